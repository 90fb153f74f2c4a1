cat load.plpkg > cut.plpkg; pl-inspect cut.plpkg
