head -c 1000 load.plpkg > cut.plpkg; pl-inspect cut.plpkg
