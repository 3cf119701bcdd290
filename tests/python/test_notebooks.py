"""The notebooks of examples/notebooks: each cell runs, and what they hold is source alone."""

import glob
import json
import os
import shutil
import tempfile
import unittest

import support

FOLDER = os.path.join(support.SOURCE, "examples", "notebooks")
NEEDED = ("nbclient", "nbformat", "ipykernel", "pandas", "sklearn", "matplotlib")


class Notebooks(unittest.TestCase):
    def notebooks(self):
        found = sorted(glob.glob(os.path.join(FOLDER, "*.ipynb")))
        self.assertGreaterEqual(len(found), 3)
        return found

    def test_no_outputs_are_kept(self):
        for path in self.notebooks():
            with open(path, encoding="utf-8") as file:
                cells = json.load(file)["cells"]
            for cell in cells:
                if cell["cell_type"] == "code":
                    self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), path)

    def test_each_is_in_the_list(self):
        with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as file:
            listed = file.read()
        for path in self.notebooks():
            self.assertIn(f"]({os.path.basename(path)})", listed)

    def test_each_runs(self):
        missing = [name for name in NEEDED if support.module(name) is None]
        if missing or not shutil.which("zstd"):
            self.skipTest(f"not installed: {', '.join(missing) or 'zstd'}")
        import nbformat
        from nbclient import NotebookClient

        os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # else the kernel writes that it cannot debug
        os.environ["PYTHONPATH"] = os.path.join(support.SOURCE, "python")
        with tempfile.TemporaryDirectory() as home:
            os.environ["IPYTHONDIR"] = os.environ["JUPYTER_RUNTIME_DIR"] = home
            os.environ["MPLCONFIGDIR"] = home
            for path in self.notebooks():
                with self.subTest(notebook=os.path.basename(path)):
                    notebook = nbformat.read(path, as_version=4)
                    nbformat.validate(notebook)
                    kernel = {"metadata": {"path": FOLDER}}
                    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=kernel).execute()
                    self.check(notebook)
                    out = os.environ.get("GROUPERFISH_NOTEBOOKS")  # a folder, to look at them
                    if out:
                        nbformat.write(notebook, os.path.join(out, os.path.basename(path)))

    def check(self, notebook):
        """Nothing warned, and each chart is a picture. Bars of progress are written to standard error, too."""
        for cell in notebook.cells:
            if cell.cell_type != "code":
                continue
            for output in cell.outputs:
                self.assertNotIn("Warning", output.get("text", ""))
            if "plot_" in cell.source:
                self.assertTrue(any("image/png" in output.get("data", {}) for output in cell.outputs), cell.source)


if __name__ == "__main__":
    support.main()
