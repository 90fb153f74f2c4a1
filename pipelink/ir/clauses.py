"""Every clause by which an input can be refused, in one place: its name and its rule."""

CLAUSES: dict[str, str] = {
    # Reading input
    "L-FILE": "every file that is named exists and can be read",
    "L-SYNTAX": "a file has the syntax of its format",
    "L-MANIFEST": "a manifest has the keys and types of its schema",
    "L-NAME": "a name follows the grammar of identifiers and is unique where it is declared",
    "L-PACKAGE": "a package is complete and unchanged: fixed members, sizes and digests as its contract states",
    "L-COMPILE": "the source compiles",
    # Packing
    "L-ANNOTATION": "an annotation is complete and consistent with the others of its source",
    "L-DEBUG": "an object is built without device debug information (-G keeps no LTO IR)",
    "L-LTO": "an object carries LTO IR of the package's target",
    "L-INLINE": 'an exported function is a plain extern "C" __device__ function that can be inlined',
    "L-UNDEFINED": "every undefined symbol of an object is named by its contract",
    "L-STATIC-SHARED": "static shared memory is declared as a claim, not as a __shared__ variable",
    "L-MAP": "a layout map has an exact closed form",
    "L-ALIGN": "a claim is aligned as its swizzle needs",
    "L-FEATURE": "the target has the instructions that the source uses",
    # Composition
    "L-TARGET": "every package is built for the pipeline's target",
    "L-TOOLKIT": "no package is built by a newer toolkit than the linker's, or by another major version",
    "L-FPMODE": "all packages are compiled with one floating-point mode",
    "L-DUPLICATE": "a symbol, name or export is defined once",
    "L-UNRESOLVED": "every import, call and fact that is used is provided by some package",
    "L-PAIR": "the two endpoints of a connection agree on space, scope, proxy, tile, layout and protocol",
    "L-SIGNATURE": "a call and its callable have one signature",
    "L-SITE": "a call site has the participants and guarantees that what it calls requires",
    "L-FACT": "a fact has one owner, and its consumers agree on its type and required value",
    "L-LIFETIME": "a lifetime names events of the kernel or of a tensor connection, in order",
    "L-TENSOR": "a tensor demand lies inside the tile that the export places, with one element type",
    # Placement
    "L-OVERLAP": "the claims that live together fit their resource without overlap",
    "L-WARPS": "the roles fit the warps of one thread block",
    "L-REGS": "the register budgets cover what the groups need and fit the register file",
    "L-ROUTE": "some route delivers every element that an import demands",
    # The link and its proof
    "L-LINK": "nvJitLink accepts the objects",
    "L-CODE": "the machine code is what the record says: no calls, stack or spills, barrier ids and budgets as placed",
    "L-CONTROL": "the linked kernel equals its single-unit control",
    # The IR
    "L-IR": "a module is well formed",
    "L-PLUGIN": "a plug-in is a pass, frontend or target, and replaces a built-in one only where it says so",
    "L-EXPECT": "an input gives exactly the diagnostics that its comments expect",
    "L-PASS": "a pass finds in the module what it requires",
    "L-TOOL": "the toolchain that a step needs is installed",
    "L-USAGE": "a command is called as its help says",
}

RANKS = dict.fromkeys(CLAUSES, 0)
