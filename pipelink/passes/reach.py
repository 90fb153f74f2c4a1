"""What the roles of a pipeline reach, and which roles run which code. Roles always run and facts are
always written; all else must be reached."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from xdsl.ir import Operation

from pipelink.ir.pl import (
    CallableOp,
    CallOp,
    ClaimOp,
    ConnectOp,
    CounterOp,
    ExportOp,
    ImportOp,
    PackageOp,
    PipelineOp,
    RingOp,
    RoleOp,
    SiteOp,
    UseFactOp,
)
from pipelink.ir.symbols import Symbols, package_of

ProviderT = TypeVar("ProviderT", bound=Operation)
UserT = TypeVar("UserT", bound=Operation)
Code = RoleOp | CallableOp | ExportOp
"""Operations that stand for code of a component."""


class Reach:
    """The edges from code to what it uses, through the connections."""

    def __init__(self, symbols: Symbols):
        self.symbols = symbols
        self.connects = symbols.ops(ConnectOp)
        self.pairs: list[tuple[ConnectOp, Operation, Operation]] = []
        self.behind: dict[Operation, list[Operation]] = {}
        self.providers: dict[Operation, tuple[Operation, ConnectOp]] = {}
        """Of what has one provider; rings and counters may have several, which `pairs` lists."""
        for connect in self.connects:
            user, provider = (symbols.find(r, connect) for r in (connect.user, connect.provider))
            if user is not None and provider is not None:
                self.pairs.append((connect, provider, user))
                self.behind.setdefault(user, []).extend((connect, provider))
                self.providers.setdefault(user, (provider, connect))
        self.live = self._live(symbols.pipeline)

    def _next(self, op: Operation) -> Iterator[Operation]:
        """What is alive because `op` is."""
        for _, used in self.symbols.uses(op):
            if used is not None:
                yield used
        yield from self.behind.get(op, ())

    def _live(self, pipeline: PipelineOp) -> set[Operation]:
        found: set[Operation] = set()
        stack: list[Operation] = [*self.symbols.ops(RoleOp), *self.symbols.ops(UseFactOp)]
        while stack:
            op = stack.pop()
            if op in found:
                continue
            found.add(op)
            stack += self._next(op)
        return found

    def provider_of(self, user: Operation) -> Operation | None:
        return self.providers[user][0] if user in self.providers else None

    def users_of(self, used: Operation) -> list[Code]:
        """The code of the same package that names `used` among its uses; through a ring, counter or import for its
        claims."""
        package = package_of(used)
        direct: list[Code] = []
        for op in package.body.block.ops if package else ():
            names_it = any(found is used for _, found in self.symbols.uses(op))
            if isinstance(op, RoleOp | CallableOp | ExportOp) and names_it:
                direct.append(op)
            elif isinstance(op, RingOp | CounterOp | ImportOp) and isinstance(used, ClaimOp) and names_it:
                direct += self.users_of(op)
        if isinstance(used, RingOp | CounterOp):
            on = self.symbols.find(used.on, used)
            direct += [on] if isinstance(on, RoleOp | CallableOp | ExportOp) else []
        return list(dict.fromkeys(direct))

    def named_by_code(self, claim: ClaimOp) -> bool:
        """Whether code itself uses the claim, besides what it is lent to."""
        return any(found is claim for code in self.users_of(claim) for _, found in self.symbols.uses(code))

    def roles_running(self, code: Operation, seen: frozenset[Operation] = frozenset()) -> list[RoleOp]:
        """The live roles whose threads run `code`, through calls and imports."""
        if isinstance(code, RoleOp):
            return [code]
        if code in seen:
            return []
        roles: list[RoleOp] = []
        for user, (provider, _) in self.providers.items():
            if provider is code and user in self.live and isinstance(user, CallOp | ImportOp):
                for caller in self.users_of(user):
                    roles += self.roles_running(caller, seen | {code})
        return list(dict.fromkeys(roles))

    def warps_running(self, endpoint: RingOp | CounterOp) -> int:
        """The warps of the roles that run an endpoint: arrivals are counted by them."""
        code = self.symbols.find(endpoint.on, endpoint)
        return sum(r.warps.value.data for r in self.roles_running(code)) if code else 0

    def ring_arrivals(self, producers: Iterable[RingOp], consumer: RingOp) -> tuple[int, int]:
        """Arrivals on full, by all producers, and on empty."""
        full = sum(p.full_count.arrivals(self.warps_running(p)) for p in producers)
        return full, consumer.empty_count.arrivals(self.warps_running(consumer))

    def counter_arrivals(self, producers: Iterable[CounterOp]) -> int:
        """What all producers add to one word."""
        return sum(p.arrivals.arrivals(self.warps_running(p)) for p in producers if p.arrivals is not None)

    def site_of(self, user: CallOp | ImportOp) -> SiteOp | None:
        site = user.site and self.symbols.find(user.site, user)
        return site if isinstance(site, SiteOp) else None

    def connected(
        self, provider_kind: type[ProviderT], user_kind: type[UserT]
    ) -> Iterator[tuple[ConnectOp, ProviderT, UserT]]:
        """(connect, provider, user) of each resolved pair of these kinds whose user is alive."""
        for connect, provider, user in self.pairs:
            if isinstance(provider, provider_kind) and isinstance(user, user_kind) and user in self.live:
                yield connect, provider, user

    def packages(self) -> list[PackageOp]:
        """The packages of which a role reaches code."""
        return [p for p in self.symbols.packages.values() if any(op in self.live for op in p.body.block.ops)]
