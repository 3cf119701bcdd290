"""What the package says of the library in ctypes is what the headers say in C."""

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import support
from grouperfish import _library as lib

INCLUDE = os.path.join(support.SOURCE, "include")
HEADERS = os.path.join(INCLUDE, "grouperfish")
# Of a result's estimate the package reads nothing: it only keeps room for it.
NOT_COMPARED = {("RebuildResult", "memory")}


def structs():
    """Each struct of the package, with its name in C."""
    for name, struct in vars(lib).items():
        if isinstance(struct, type) and issubclass(struct, ctypes.Structure) and struct is not ctypes.Structure:
            if struct.__module__ == lib.__name__:
                words = re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()
                yield name, struct, "gf_" + words


def by_compiler(compiler):
    """{(struct, member or None): (offset, size)}, as the C compiler lays them out."""
    lines = []
    for name, struct, of_c in structs():
        lines.append(f'    printf("{name} - 0 %zu\\n", sizeof({of_c}));')
        for member, _ in struct._fields_:
            lines.append(
                f'    printf("{name} {member} %zu %zu\\n", offsetof({of_c}, {member}), '
                f"sizeof((({of_c} *)0)->{member}));"
            )
    program = "#include <grouperfish.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{\n%s\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "layout.c")
        with open(source, "w", encoding="utf-8") as out:
            out.write(program % "\n".join(lines))
        made = os.path.join(folder, "layout")
        subprocess.run([compiler, "-std=c11", "-I", INCLUDE, "-o", made, source], check=True)
        said = subprocess.run([made], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in said.splitlines():
        name, member, offset, size = line.split()
        found[name, None if member == "-" else member] = (int(offset), int(size))
    return found


def parameters_by_name():
    """{function: number of its parameters} of all headers."""
    found = {}
    for path in [HEADERS + ".h"] + [os.path.join(HEADERS, name) for name in os.listdir(HEADERS)]:
        with open(path, encoding="utf-8") as header:
            text = re.sub(r"/\*.*?\*/", "", header.read(), flags=re.S)
        for function, parameters in re.findall(r"\b(gf_\w+)\(([^()]*)\);", text):
            found[function] = 0 if parameters.strip() == "void" else parameters.count(",") + 1
    return found


class Layout(unittest.TestCase):
    def test_each_function_has_as_many_parameters(self):
        in_c = parameters_by_name()
        for name, (_, arguments) in lib._PROTOTYPES.items():
            self.assertEqual(len(arguments), in_c[name], name)

    def test_each_struct_lies_as_in_c(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not compiler:
            self.skipTest("there is no C compiler")
        in_c = by_compiler(compiler)
        self.assertGreater(len(in_c), 50)
        for name, struct, _ in structs():
            whole = in_c[name, None][1]
            if not any(one == name for one, _ in NOT_COMPARED):
                self.assertEqual(ctypes.sizeof(struct), whole, name)
            self.assertGreaterEqual(ctypes.sizeof(struct), whole, name)
            for member, _ in struct._fields_:
                of_python = getattr(struct, member)
                offset, size = in_c[name, member]
                self.assertEqual(of_python.offset, offset, f"{name}.{member}")
                if (name, member) not in NOT_COMPARED:
                    self.assertEqual(of_python.size, size, f"{name}.{member}")


if __name__ == "__main__":
    support.main()
