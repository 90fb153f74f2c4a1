"""Every clause by which an input can be refused: its name, its rule, why it matters, a failing example, the fix.

Groups go from the most fundamental: where one is broken, what the later ones would say is of little worth.
"""

from dataclasses import dataclass
from textwrap import fill, indent


@dataclass(frozen=True)
class Clause:
    """One clause. `language` is that of `example`: `console` commands, a `toml` manifest, `cuda` annotations of a
    component, or `mlir` inside a pl.pipeline, where `...` stands for what does not matter."""

    name: str
    rule: str
    why: str
    language: str
    example: str
    fix: str

    def __str__(self) -> str:
        return self.rule

    def explain(self) -> str:
        """The whole entry as text."""
        parts = [f"{self.name}: {self.rule}", self.why, "For example, this is refused:"]
        return "\n\n".join(
            [
                *(fill(part, 100) for part in parts),
                indent(self.example.strip("\n"), "    "),
                fill(f"Fix: {self.fix}", 100),
            ]
        )


GROUPS: dict[str, tuple[Clause, ...]] = {
    "The command": (
        Clause(
            "L-USAGE",
            "a command is called as its help says",
            "A misspelt pass or option that was ignored would leave work undone without a word.",
            "console",
            "$ pl-opt load.mlir -p pl-relocat",
            "take the spelling that the error suggests, or one of `--help` and `pl-opt --list-passes`",
        ),
        Clause(
            "L-PLUGIN",
            "a plug-in is a pass, frontend or target, and replaces a built-in one only where it says so",
            "What is installed beside pipelink takes part in every link; it must not change one by accident.",
            "console",
            '$ PYTHONPATH=plugin pl-opt --list-passes  # its class: name = "pl-relocate", without replaces = True',
            "mend or remove the distribution that the error names",
        ),
        Clause(
            "L-TOOL",
            "the toolchain that a step needs is installed",
            "Another toolkit that happens to be in the system would make other machine code; none is taken unasked.",
            "console",
            "$ CC=none pl-pack provided.cu",
            "install what the error names, or point PIPELINK_CUDA_HOME, NVCC_CCBIN or CC at it",
        ),
        Clause(
            "L-PASS",
            "a pass finds in the module what it requires",
            "The IR is the only state: a pass whose input is missing could only guess.",
            "console",
            "$ pl-opt load.mlir -p pl-relocate",
            "run the pass that the error names first, or all of them with --link-passes",
        ),
        Clause(
            "L-EXPECT",
            "an input gives exactly the diagnostics that its comments expect",
            "It is how the diagnostics themselves are tested; see `pl-opt --verify-diagnostics`.",
            "console",
            "$ (echo '// expected-error @+1 {{no such error}}'; cat load.mlir) | pl-opt --verify-diagnostics",
            "correct the comment, or what it describes",
        ),
    ),
    "Reading input": (
        Clause(
            "L-FILE",
            "every file that is named exists and can be read",
            "A missing file is reported once, where it is named, not as everything that it would have provided.",
            "console",
            "$ pl-opt none.mlir",
            "correct the path, pack the component, or name the folder of its package with -L",
        ),
        Clause(
            "L-SYNTAX",
            "a file has the syntax of its format",
            "Nothing in a file can be trusted past the point where it stops making sense.",
            "mlir",
            'pl.fact @tile : "i32" 128',
            "write what the error expects at that line and column",
        ),
        Clause(
            "L-MANIFEST",
            "a manifest has the keys and types of its schema",
            "A misspelt key that was ignored would link another pipeline than the one that was meant.",
            "toml",
            """
[pipeline]
name = "sample"
target = "sm_90a"
serach = ["packages"]

[packages]
load = "load.plpkg"
""",
            "use the key that the error suggests; docs/manifest.md lists all",
        ),
        Clause(
            "L-NAME",
            "a name follows the grammar of identifiers and is unique where it is declared",
            "Names become symbols of the linked kernel; two that encode alike would be one symbol.",
            "toml",
            """
[pipeline]
name = "my pipeline"
target = "sm_90a"

[packages]
load = "load.plpkg"
""",
            "use letters, digits and single underscores, not starting with a digit",
        ),
        Clause(
            "L-PACKAGE",
            "a package is complete and unchanged: fixed members, sizes and digests as its contract states",
            "The linker trusts a contract because its digests tie it to the object that it was read from.",
            "console",
            "$ head -c 1000 load.plpkg > cut.plpkg; pl-inspect cut.plpkg",
            "pack or copy it again; where a module was made from another version, make it from the manifest again",
        ),
        Clause(
            "L-IR",
            "a module is well formed",
            "Passes rely on what the verifiers of operations check, and would fail far from the cause.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r entry "a_r" <() -> "void"> warps 0 align 1 registers [24, 240] need 0 uses []
}
""",
            "correct the operation that is named; docs/dialect.md has the grammar of each",
        ),
    ),
    "Packing": (
        Clause(
            "L-COMPILE",
            "the source compiles",
            "A component is compiled twice, with its annotations and without; both must succeed.",
            "cuda",
            'extern "C" __device__ void x_step(int *p) { *p = undeclared; }\nPL_CALLABLE(step, x_step)',
            "correct the source where nvcc points",
        ),
        Clause(
            "L-ANNOTATION",
            "an annotation is complete and consistent with the others of its source",
            "A contract that contradicts itself cannot be checked against another.",
            "cuda",
            "PL_CLAIM_BARRIER(ids, pl::claim().ids(16))",
            "correct the annotation; docs/contract.md describes each",
        ),
        Clause(
            "L-DEBUG",
            "an object is built without device debug information",
            "-G keeps no LTO IR, so there would be nothing to link; -lineinfo is allowed.",
            "console",
            "$ pl-pack plain.cu --nvcc-flag=-G",
            "leave -G out",
        ),
        Clause(
            "L-LTO",
            "an object carries LTO IR of the package's target",
            "Only LTO IR lets the link fold handles into constants; machine code is opaque to it.",
            "console",
            "$ pl-pack plain.cu --object plain.cu",
            "compile it with -fatbin -gencode=arch=compute_90a,code=lto_90a, or let pl-pack compile the source",
        ),
        Clause(
            "L-INLINE",
            'an exported function is a plain extern "C" __device__ function that can be inlined',
            "A call that stays a call costs registers and a stack, and its handles are not constants.",
            "cuda",
            'extern "C" __device__ __noinline__ void x_step(int *p) { *p = 1; }\nPL_CALLABLE(step, x_step)',
            'declare it extern "C" __device__, without inline, static or __noinline__, and without recursion',
        ),
        Clause(
            "L-UNDEFINED",
            "every undefined symbol of an object is named by its contract",
            "The linker defines what the contract names; any other symbol would stay undefined in the kernel.",
            "cuda",
            """
__device__ int other(int);
extern "C" __device__ void x_step(int *p) { *p = other(*p); }
PL_CALLABLE(step, x_step)
""",
            "define it in the component, or declare it with PL_CALL",
        ),
        Clause(
            "L-STATIC-SHARED",
            "shared memory is claimed, not declared as a __shared__ variable",
            "The compiler would place it by itself, outside the joint placement and beside everybody's claims.",
            "cuda",
            """
extern "C" __device__ void x_step(int *p) {
  __shared__ int staged[32];
  staged[threadIdx.x] = *p;
  __syncthreads();
  *p = staged[threadIdx.x ^ 1];
}
PL_CALLABLE(step, x_step)
""",
            "claim it with PL_CLAIM_SMEM and address it as pl_smem + PL_HANDLE(name)",
        ),
        Clause(
            "L-MAP",
            "a layout map has an exact closed form",
            "Routes are proven over closed forms; a fit that is nearly right would move wrong elements.",
            "cuda",
            'extern "C" __device__ void x_export(float *frame) {}\n'
            'PL_EXPORT_TENSOR(out, x_export, pl::tensor("f32", 8, 8).frame(2).threads(32), 32, 2,\n'
            "                 [](int t, int r) { return pl::at{t / 4, (t * t * 7 + r * t) % 8}; })",
            "state the map by shifts, masks, xor, division and remainder of its inputs",
        ),
        Clause(
            "L-ALIGN",
            "a claim is aligned as its swizzle needs",
            "Hardware swizzles by address bits: a base that is not aligned shifts the pattern and scrambles the tile.",
            "cuda",
            'extern "C" __device__ void x_role() {}\nPL_ROLE(work, x_role, pl::role().warps(1))\n'
            'PL_RING(ab, pl::producer().on("work").depth(2, 4).full(pl::once()).empty(pl::once()).bytes(1024))\n'
            'PL_RING_BUFFER(ab, a, pl::tile(8, 64).of("bf16").swizzle(128).bytes(1024).align(512))',
            "align to eight rows of the swizzle: 1024 for 128 bytes, 512 for 64, 256 for 32",
        ),
        Clause(
            "L-FEATURE",
            "the target has the instructions that the source uses",
            "wgmma, setmaxnreg and their like exist only for the architecture-specific targets, such as sm_90a.",
            "cuda",
            '// pl-pack --target sm_90\nextern "C" __device__ void x_role() {\n'
            '  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");\n}\nPL_ROLE(work, x_role, pl::role().warps(4))',
            "pack with the target that the error names",
        ),
    ),
    "Composition": (
        Clause(
            "L-TARGET",
            "every package is built for the pipeline's target, or for a plain architecture before it",
            "LTO IR links for its own architecture and, where it uses no special feature, for newer ones.",
            "mlir",
            'pl.package @a target "sm_100a" ... {\n}',
            "pack it with --target of the pipeline, or change the pipeline's target",
        ),
        Clause(
            "L-TOOLKIT",
            "no package is built by a newer toolkit than the linker's, or by another major version",
            "nvJitLink reads LTO IR of its own major version, and of its own or older minor ones.",
            "mlir",
            'pl.package @a toolkit "14.0.0" ... {\n}',
            "pack it again with the linker's toolkit, or link with a newer one",
        ),
        Clause(
            "L-FPMODE",
            "all packages are compiled with one floating-point mode",
            "nvJitLink applies one mode to all code: a package that was compiled for another would change its results.",
            "mlir",
            "pl.package @a fp <> ... {\n}\npl.package @b fp <ftz = 1> ... {\n}",
            "pack all with the same -use_fast_math, -ftz, -fmad and -prec options",
        ),
        Clause(
            "L-DUPLICATE",
            "a symbol, name or export is defined once",
            "Where two packages define one symbol the link would fail, or one of them would silently be the other.",
            "mlir",
            'pl.package @a defines ["init"] ... {\n}\npl.package @b defines ["init"] ... {\n}',
            "make helpers static, rename one, or choose a provider under [connect]",
        ),
        Clause(
            "L-UNRESOLVED",
            "every import, call and fact that is used is provided by some package",
            "A kernel with a hole in it cannot run.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses [@coord]
  pl.call @coord symbol "a_coord" <() -> "void">
}
""",
            "add a package that provides it, or correct the name as the error suggests",
        ),
        Clause(
            "L-PAIR",
            "the two endpoints of a connection agree on space, scope, proxy, tile, layout and restart rule",
            "Endpoints that disagree link without a word, then hang or leave output unwritten: a consumer that"
            " waits at the scope of its own device may never see what a producer releases to the system.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses [@done]
  pl.claim @words counter size 4 align 1 lifetime <kernel> scope "system" restart "epoch"
  pl.counter @done producer on @r slots @words arrivals <1>
}
pl.package @b ... {
  pl.role @r ... uses [@done]
  pl.claim @words counter size 4 align 1 lifetime <kernel> scope "gpu" restart "epoch"
  pl.counter @done consumer on @r slots @words
}
pl.connect counter @a::@done to @b::@done
""",
            "make the field that is named equal in both contracts; the notes give both values and where they stand",
        ),
        Clause(
            "L-ARRIVALS",
            "what arrives on a barrier or counter is what its other end counts on",
            "A phase that lacks an arrival never completes; one that has an arrival too many completes before"
            " its data is there.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses [@ab]
  pl.claim @tile smem size 4096 align 1024 ring @ab lifetime <kernel>
  pl.claim @full mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.claim @empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.ring @ab producer on @r buffers [@tile] full @full <1> empty @empty <1> depths [2, 4] bytes 4096
    space "smem" scope "cta" proxy "async" priority 0 init "a_init" <() -> "void">
}
pl.package @b ... {
  pl.role @r ... uses [@ab]
  pl.claim @tile smem size 4096 align 1024 ring @ab lifetime <kernel>
  pl.claim @full mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.claim @empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.ring @ab consumer on @r buffers [@tile] full @full <2> empty @empty <1> depths [2, 4] bytes 4096
    space "smem" scope "cta" proxy "async" priority 0
}
pl.connect ring @a::@ab to @b::@ab
""",
            "count the arrivals of the side that arrives, once or for each of its warps or threads",
        ),
        Clause(
            "L-BYTES",
            "a ring's transaction bytes are those of its buffers, for both of its endpoints",
            "Asynchronous copies complete by bytes: a barrier that expects more waits for ever, one that expects"
            " less lets its consumer read a part of the tile.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses [@ab]
  pl.claim @tile smem size 4096 align 1024 ring @ab lifetime <kernel>
  pl.claim @full mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.claim @empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.ring @ab producer on @r buffers [@tile] full @full <1> empty @empty <1> depths [2, 4] bytes 4096
    space "smem" scope "cta" proxy "async" priority 0 init "a_init" <() -> "void">
}
pl.package @b ... {
  pl.role @r ... uses [@ab]
  pl.claim @tile smem size 4096 align 1024 ring @ab lifetime <kernel>
  pl.claim @full mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.claim @empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.ring @ab consumer on @r buffers [@tile] full @full <1> empty @empty <1> depths [2, 4] bytes 2048
    space "smem" scope "cta" proxy "async" priority 0
}
pl.connect ring @a::@ab to @b::@ab
""",
            "state the bytes of one stage, the sum of its buffers, in both contracts",
        ),
        Clause(
            "L-DEPTH",
            "some depth of a ring suits all of its endpoints",
            "Both ends count stages to know which phase of a barrier they wait for.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses [@ab]
  pl.claim @tile smem size 4096 align 1024 ring @ab lifetime <kernel>
  pl.claim @full mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.claim @empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.ring @ab producer on @r buffers [@tile] full @full <1> empty @empty <1> depths [2, 4] bytes 4096
    space "smem" scope "cta" proxy "async" priority 0 init "a_init" <() -> "void">
}
pl.package @b ... {
  pl.role @r ... uses [@ab]
  pl.claim @tile smem size 4096 align 1024 ring @ab lifetime <kernel>
  pl.claim @full mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.claim @empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.ring @ab consumer on @r buffers [@tile] full @full <1> empty @empty <1> depths [5, 8] bytes 4096
    space "smem" scope "cta" proxy "async" priority 0
}
pl.connect ring @a::@ab to @b::@ab
""",
            "widen the range of one endpoint, or leave the depth to the linker",
        ),
        Clause(
            "L-INIT",
            "exactly one endpoint initialises a ring's mbarriers",
            "An mbarrier that nobody initialises holds what shared memory held; one that two initialise may lose"
            " an arrival.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses [@ab]
  pl.claim @tile smem size 4096 align 1024 ring @ab lifetime <kernel>
  pl.claim @full mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.claim @empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.ring @ab producer on @r buffers [@tile] full @full <1> empty @empty <1> depths [2, 4] bytes 4096
    space "smem" scope "cta" proxy "async" priority 0 init "a_init" <() -> "void">
}
pl.package @b ... {
  pl.role @r ... uses [@ab]
  pl.claim @tile smem size 4096 align 1024 ring @ab lifetime <kernel>
  pl.claim @full mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.claim @empty mbarrier size 1 align 8 ring @ab lifetime <kernel>
  pl.ring @ab consumer on @r buffers [@tile] full @full <1> empty @empty <1> depths [2, 4] bytes 4096
    space "smem" scope "cta" proxy "async" priority 0 init "b_init" <() -> "void">
}
pl.connect ring @a::@ab to @b::@ab
""",
            "let one of the endpoints state PL_RING_INIT, and no other",
        ),
        Clause(
            "L-RESTART",
            "a counter that other devices raise is not reset by the launch",
            "A fast peer may already raise it for the next launch: a reset would wipe that arrival out.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses [@words]
  pl.claim @words counter size 4 align 1 lifetime <kernel> scope "system" restart "launch"
}
""",
            'restart by "self" (its users reset it when they leave) or "epoch" (it only ever grows)',
        ),
        Clause(
            "L-TOPOLOGY",
            "one shape of cluster and one number of blocks a multiprocessor suit all packages",
            "A cluster has one shape and a launch one bound; code that counts on another addresses blocks that"
            " are not there.",
            "mlir",
            """
pl.package @a ... {
  pl.topology clusters [array<i64: 2, 1, 1>] occupancy [1, 1]
  pl.role @r ... uses []
}
pl.package @b ... {
  pl.topology clusters [array<i64: 4, 1, 1>, array<i64: 1, 1, 1>] occupancy [1, 2]
  pl.role @r ... uses []
}
""",
            "let the packages share one shape, in PL_TOPOLOGY",
        ),
        Clause(
            "L-DOMAIN",
            "packages that join a communication domain agree on its ranks, its allocations and the fields for them",
            "The session writes addresses of peers where the contract says: a field for fewer ranks would be overrun.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses []
  pl.param "a_args" size 16 align 8 fields <peers = [0, 16]>
  pl.domain @world ranks 4
  pl.view @kv domain @world kind "peer" field "peers" allocation "kv"
}
""",
            "give the field 8 bytes for each rank, and all packages the same number of ranks",
        ),
        Clause(
            "L-SIGNATURE",
            "a call and its callable have one signature",
            "C symbols carry no types: an argument more or less links, and reads what happens to be in a register.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses [@f]
  pl.call @f symbol "a_f" <("int") -> "void">
}
pl.package @b ... {
  pl.callable @f symbol "b_f" <("int", "int") -> "void"> uses []
}
pl.connect call @b::@f to @a::@f
""",
            "declare the call as its callable is defined",
        ),
        Clause(
            "L-SITE",
            "a call site has the participants and guarantees that what it calls requires",
            "Warp-wide instructions and barriers hang, or compute garbage, where a thread that they need is elsewhere.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses [@t]
  pl.site @work in @r threads [0, 32] guarantees []
  pl.import @t symbol "a_t" <("const float *", "int", "float *") -> "void"> produce "a_p" <("float *") -> "void">
    dtype "f32" demand "(t:32, p:1, c:2) -> (m:64) { m = t*2 + c }" chunk "c" site @work lends frame 2
    completion "final" rendezvous []
}
pl.package @b ... {
  pl.export @t symbol "b_t" <("float *") -> "void"> dtype "f32" placement "(t:32, r:2) -> (m:64) { m = t*2 + r }"
    registers 2 threads 32 align 32 requires ["converged"] completion "final" uses []
}
pl.connect tensor @b::@t to @a::@t
""",
            "call from a site that has it, and state the guarantee there if it holds",
        ),
        Clause(
            "L-CYCLE",
            "no code calls itself through other packages",
            "Linked code has no stack, and nothing would end the recursion.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses [@f]
  pl.call @f symbol "a_calls_f" <() -> "void">
  pl.call @back symbol "a_back" <() -> "void">
  pl.callable @g symbol "a_g" <() -> "void"> uses [@back]
}
pl.package @b ... {
  pl.callable @f symbol "b_f" <() -> "void"> uses [@g]
  pl.call @g symbol "b_calls_g" <() -> "void">
}
pl.connect call @b::@f to @a::@f
pl.connect call @a::@g to @b::@g
pl.connect call @b::@f to @a::@back
""",
            "break the cycle: let one of the callables return what the other needs",
        ),
        Clause(
            "L-FACT",
            "a fact has one owner, and its consumers agree on its type and required value",
            "Code that was compiled for one tile size and runs with another leaves parts of the output unwritten.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses []
  pl.param "a_args" size 4 align 4 fields <tile = [0, 4]>
  pl.use_fact @tile : "i32" field "tile" requires "128"
}
pl.fact @tile : "i32" = "64"
pl.connect fact @tile to @a::@tile
""",
            "use an owner of the value that is required, or a consumer that takes the owner's",
        ),
        Clause(
            "L-LIFETIME",
            "a lifetime names a phase of a stream, or events of the kernel or of a tensor connection in order",
            "Storage is shared by these events: one that does not order two users lets one overwrite the other.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses [@c]
  pl.claim @c smem size 64 align 16 lifetime <"acc.ready" to "end">
}
""",
            "name begin, end, or NAME.ready and NAME.done of a tensor that is connected, the earlier one first",
        ),
        Clause(
            "L-TENSOR",
            "a tensor demand lies inside the tile that the export places, with one element type",
            "An element that nobody holds cannot be delivered, and transfers never convert.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses [@t]
  pl.site @work in @r threads [0, 32] guarantees ["converged"]
  pl.import @t symbol "a_t" <("const float *", "int", "float *") -> "void"> produce "a_p" <("float *") -> "void">
    dtype "f32" demand "(t:32, p:1, c:4) -> (m:128) { m = t*4 + c }" chunk "c" site @work lends frame 2
    completion "final" rendezvous []
}
pl.package @b ... {
  pl.export @t symbol "b_t" <("float *") -> "void"> dtype "f32" placement "(t:32, r:2) -> (m:64) { m = t*2 + r }"
    registers 2 threads 32 align 32 requires ["converged"] completion "final" uses []
}
pl.connect tensor @b::@t to @a::@t
""",
            "agree on tile, element type, completion and frame; the notes give both sides",
        ),
    ),
    "Placement": (
        Clause(
            "L-OVERLAP",
            "the claims that live together fit their resource without overlap",
            "Two claims on one address corrupt each other; what does not fit cannot be launched.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses [@x, @y]
  pl.claim @x smem size 150000 align 16 lifetime <kernel>
  pl.claim @y smem size 150000 align 16 lifetime <kernel>
}
""",
            "claim less, allow a ring fewer stages, or give claims lifetimes that an event separates",
        ),
        Clause(
            "L-WARPS",
            "the roles fit the warps of one thread block",
            "A block has at most 1024 threads, and each role has its own warps.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r entry "a_r" <() -> "void"> warps 33 align 1 registers [24, 240] need 0 uses []
}
""",
            "give roles fewer warps, or link fewer roles",
        ),
        Clause(
            "L-REGS",
            "the register budgets cover what the groups need and fit the register file",
            "Budgets over the register file hang in setmaxnreg; budgets below the need spill to memory.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r entry "a_r" <() -> "void"> warps 8 align 4 registers [232, 240] need 232 uses []
  pl.role @s entry "a_s" <() -> "void"> warps 4 align 4 registers [232, 240] need 232 uses []
}
""",
            "lower the least budgets, use fewer warps, or make the code need fewer registers",
        ),
        Clause(
            "L-ROUTE",
            "some route delivers every element that an import demands",
            "Registers of another thread cannot be read directly: elements move through storage that somebody lends.",
            "mlir",
            """
pl.package @a ... {
  pl.role @r ... uses [@t]
  pl.site @work in @r threads [0, 32] guarantees ["converged"]
  pl.import @t symbol "a_t" <("const float *", "int", "float *") -> "void"> produce "a_p" <("float *") -> "void">
    dtype "f32" demand "(t:32, p:1, c:2) -> (m:64) { m = t + c*32 }" chunk "c" site @work lends frame 2
    completion "final" rendezvous []
}
pl.package @b ... {
  pl.export @t symbol "b_t" <("float *") -> "void"> dtype "f32" placement "(t:32, r:2) -> (m:64) { m = t*2 + r }"
    registers 2 threads 32 align 32 requires ["converged"] completion "final" uses []
}
pl.connect tensor @b::@t to @a::@t
""",
            "lend scratch and a barrier in PL_IMPORT_TENSOR, or demand the producer's own layout",
        ),
    ),
    "The link and its proof": (
        Clause(
            "L-LINK",
            "nvJitLink accepts the objects",
            "What it refuses has no machine code; its own words are in the error.",
            "console",
            "$ pl-link pipeline.toml -L packages",
            "read what nvJitLink says; a package of damaged or foreign LTO IR is packed again",
        ),
        Clause(
            "L-CODE",
            "the machine code is what the record says: no calls, stack or spills, barrier ids and budgets as placed",
            "The image is read back by code that made none of it, so a link that went wrong cannot be loaded.",
            "console",
            "$ pl-pack stack.cu; pl-link stack.toml  # its role indexes a local array at run time, which takes a stack",
            "change the source so that it needs no stack and no call; report what is a fault of the linker",
        ),
        Clause(
            "L-CONTROL",
            "the linked kernel equals its single-unit control",
            "It is the proof that linking cost nothing; only pl-link --control builds it.",
            "console",
            "$ pl-pack plain.cu --no-source; pl-link plain.toml --control",
            "pack with sources, so that a control can be built; a difference in machine code is a fault to report",
        ),
    ),
}

CATALOGUE = {clause.name: clause for group in GROUPS.values() for clause in group}

CLAUSES = {name: clause.rule for name, clause in CATALOGUE.items()}
"""The rule of each clause, by its name."""

RANKS = {clause.name: rank for rank, group in enumerate(GROUPS.values()) for clause in group}
"""How fundamental a clause is: errors are reported in this order."""
