PYTHONPATH=replacing pl-opt --list-passes  # its class: name = "pl-relocate", without replaces = True
