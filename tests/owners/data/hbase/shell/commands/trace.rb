# The shell of 2.4 has this command, the client of 2.5 not what it asks for.
module Shell
  module Commands
    class Trace < Command
    end
  end
end
