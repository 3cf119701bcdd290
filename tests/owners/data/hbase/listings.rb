# HBase's own shell, without its prompt: what `scan` prints, into files.
require 'java'
# Ruby has a `shell` of its own.
$LOAD_PATH.unshift('uri:classloader:/')
$LOAD_PATH.unshift(java.lang.System.getProperty('user.dir')) # trace.rb
java_import org.apache.hadoop.fs.Path
require 'hbase_constants'
require 'hbase/hbase'
require 'shell'
include HBaseConstants
out = java.lang.System.getProperty('fixtures.out')
conf = org.apache.hadoop.hbase.HBaseConfiguration.create
conf.addResource(Path.new('file://' + java.lang.System.getProperty('fixtures.conf')))
hbase = Hbase::Hbase.new(conf)
shell = Shell::Shell.new(hbase, false)

def listing(shell, file, width, table, args = {})
  text = StringIO.new
  formatter = Shell::Formatter::Console.new(output_stream: text)
  # On a terminal it is the terminal's width.
  formatter.define_singleton_method(:refresh_width) { @max_width = width }
  command = Shell.commands['scan'].new(shell)
  command.set_formatter(formatter)
  command.command_safe(true, :command, table, args)
  File.write(file, text.string)
end

listing(shell, "#{out}/users.scan", 0, 'users')
listing(shell, "#{out}/users-versions.scan", 0, 'users', { 'VERSIONS' => 3 })
listing(shell, "#{out}/users-80.scan", 80, 'users', { 'LIMIT' => 5 })
listing(shell, "#{out}/users-raw.scan", 0, 'users', { 'RAW' => true, 'VERSIONS' => 3, 'ROWPREFIXFILTER' => 'u' })
listing(shell, "#{out}/actions.scan", 0, 'actions', { 'LIMIT' => 3 })
listing(shell, "#{out}/papers.scan", 0, 'wbgrp-journal-extract-0-qa')
