"""Random statements about names for other places: calls of functions that change what they are given, structs and
their copies, pointers and references."""

from __future__ import annotations

from .make_expressions import Expressions, Scope
from .memory import own_length
from .program import Expression, Function, Program, Statement, Struct
from .scalar_types import Type, boolean, int_type


class Aliases(Expressions):
    """Of the statements in make_statements.py, whose others they use."""

    program: Program
    changing_functions: list[Function]
    struct_variables: list[tuple[str, Struct]]

    def name(self, start: str) -> str:
        raise NotImplementedError

    def place(self, scope: Scope, scalars: bool = False) -> Expression | None:
        raise NotImplementedError

    def declaration(self, scope: Scope, type: Type | None = None) -> Statement:
        raise NotImplementedError

    def assignment(self, scope: Scope) -> Statement:
        raise NotImplementedError

    def call_statement(self, scope: Scope) -> Statement:
        """A call of a function that changes what it is given, whose result goes to a variable."""
        function = self.choose.choice(self.changing_functions)
        operands, taken = [], []
        for parameter in function.parameters:
            if parameter.kind == "value":
                operands.append(self.make(parameter.type, scope, 2))
                continue
            if parameter.kind == "struct":
                found = [
                    name
                    for name, struct in self.struct_variables
                    if struct is parameter.struct and f"{name}.m0" in {n for n, _, _ in scope.variables}
                ]
                if not found:
                    return self.struct_declaration(scope, parameter.struct)
                operands.append(Expression("struct", int_type, data=self.choose.choice(found)))
                continue
            if parameter.kind == "reference":
                found = [n for n, t, m in scope.variables if m and t == parameter.type and n not in taken]
                if not found:
                    return self.declaration(scope, parameter.type)
                taken.append(self.choose.choice(found))
                operands.append(Expression("variable", parameter.type, data=taken[-1]))
                continue
            if parameter.space == "device":
                found = [] if scope.in_function else [(f"own_{parameter.type}", own_length)]
            else:
                found = self.addressable(scope, parameter.type)
            found = [(n, length) for n, length in found if n not in taken]
            if not found:
                return self.assignment(scope)
            name, length = self.choose.choice(found)
            taken.append(name)
            operands.append(Expression("address", parameter.type, data=(name, self.choose.randint(0, length - 4))))
        call = Expression("invoke", function.result, operands, function.name)
        targets = [(n, t) for n, t, m in scope.variables if m and t == function.result and n not in taken]
        if not targets:
            return Statement("run", [call])
        name, type = self.choose.choice(targets)
        return Statement("assign", [Expression("variable", type, data=name), call], data="=")

    def addressable(self, scope: Scope, type: Type) -> list[tuple[str, int]]:
        """Arrays of threads of the type, with four elements or more."""
        return [
            (name, length)
            for name, t, length in scope.arrays
            if t == type and length >= 4 and not name.startswith(("table", "pointer"))
        ]

    def struct_declaration(self, scope: Scope, struct: Struct) -> Statement:
        others = [
            n for n, s in self.struct_variables if s is struct and f"{n}.m0" in {v for v, _, _ in scope.variables}
        ]
        name = self.name("s")
        if others and self.one_in(2):
            made = Statement("copy", data=(name, self.choose.choice(others), struct, True))
        else:
            made = Statement(
                "struct", [self.make(type, scope, 2) for type in struct.members.values()], data=(name, struct)
            )
        scope.variables += [(f"{name}.{member}", type, True) for member, type in struct.members.items()]
        scope.arrays += [(f"{name}.{member}", type, length) for member, (type, length) in struct.arrays.items()]
        self.struct_variables.append((name, struct))
        return made

    def with_structs(self, scope: Scope) -> Statement | None:
        """Of a kernel with structs: another variable, or a copy."""
        if not self.program.structs:
            return None
        struct = self.choose.choice(self.program.structs)
        known = {name for name, _, _ in scope.variables}
        found = [name for name, s in self.struct_variables if s is struct and f"{name}.m0" in known]
        if len(found) < 2:
            return self.struct_declaration(scope, struct)
        target, source = self.choose.sample(found, 2)
        return Statement("copy", data=(target, source, struct, False))

    def alias(self, scope: Scope) -> Statement | None:
        """A pointer to one of two places in arrays by thread, or a reference to a place."""
        if self.one_in(2):
            type = self.any_integer()
            found = self.addressable(scope, type)
            if not found:
                return None
            addresses = []
            for array, length in self.choose.choices(found, k=2):  # of one array, too
                addresses.append(Expression("address", type, data=(array, self.choose.randint(0, length - 4))))
            name = self.name("pointer")
            condition = self.make(boolean, scope, 2)
            scope.arrays.append((name, type, 4))
            return Statement("pointer", [condition, *addresses], data=(name, type))
        place = self.place(scope)
        if place is None or place.kind not in ("variable", "element") or place.type.kind == "b":
            return None
        name = self.name("v")
        scope.variables.append((name, place.type, True))
        return Statement("reference", [place], data=(name, place.type))
