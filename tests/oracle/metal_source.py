"""Prints programs as Metal."""

from __future__ import annotations

import re

from . import functions
from .memory import arguments, atomic_length, atomics, most_threads_per_group, slots_by_type
from .metal_expressions import ExpressionPrinter, constant
from .program import Expression, Function, Program, Statement, all_statements
from .scalar_types import Type

head = """#include <metal_stdlib>
using namespace metal;
"""
no_contraction = "#pragma METAL fp contract(off)\n"


class Printer(ExpressionPrinter):
    def lines(self, block: list[Statement], depth: int) -> list[str]:
        result = []
        for statement in block:
            made = getattr(self, "_do_" + statement.kind)(statement, depth)
            result += [made] if isinstance(made, str) else made
        return ["  " * depth + line if line[:1] != " " else line for line in result]

    def _braces(self, opening: str, block: list[Statement], depth: int, closing: str = "}") -> list[str]:
        return [f"{opening} {{", *self.lines(block, depth + 1), closing]

    def _do_declare(self, statement: Statement, depth: int) -> str:
        name, type = statement.data
        return f"{type} {name} = {self._as(statement.expressions[0], type)};"

    def _as(self, expression: Expression, type: Type) -> str:
        """As an initialiser: half, bfloat and vectors do not take everything implicitly."""
        text = self.text(expression)
        if expression.type == type or (type.is_integer and type.lanes == 1 and expression.type.kind != "f"):
            return text
        return f"{type}({text})"

    def _do_array(self, statement: Statement, depth: int) -> str:
        name, type, length = statement.data
        values = ", ".join(f"{type}({self.text(value)})" for value in statement.expressions)
        return f"{type} {name}[{length}] = {{{values}}};"

    def _do_struct(self, statement: Statement, depth: int) -> list[str]:
        name, struct = statement.data
        values = zip(struct.members.items(), statement.expressions, strict=True)
        lines = [f"{struct.name}_{self.name} {name} = {{}};"]
        return lines + [f"{name}.{member} = {self._as(value, type)};" for (member, type), value in values]

    def _do_copy(self, statement: Statement, depth: int) -> str:
        target, source, struct, declares = statement.data
        return f"{struct.name + '_' + self.name + ' ' if declares else ''}{target} = {source};"

    def _do_pointer(self, statement: Statement, depth: int) -> str:
        name, type = statement.data
        condition, one, other = map(self.text, statement.expressions)
        return f"thread {type}* {name} = {condition} ? {one} : {other};"

    def _do_reference(self, statement: Statement, depth: int) -> str:
        name, type = statement.data
        place = statement.expressions[0]
        device = place.kind == "element" and place.data[0].startswith("own_")
        return f"{'device' if device else 'thread'} {type}& {name} = {self.text(place)};"

    def _do_assign(self, statement: Statement, depth: int) -> str:
        place, value = statement.expressions
        text = self._as(value, place.type) if statement.data == "=" else self.text(value)
        return f"{self.text(place)} {statement.data} {text};"

    def _do_step(self, statement: Statement, depth: int) -> str:
        return f"{self.text(statement.expressions[0])}{statement.data};"

    def _do_run(self, statement: Statement, depth: int) -> str:
        return f"{self.text(statement.expressions[0])};"

    def _do_block(self, statement: Statement, depth: int) -> list[str]:
        return ["{", *self.lines(statement.blocks[0], depth + 1), "}"]

    def _do_if(self, statement: Statement, depth: int) -> list[str]:
        lines = self._braces(f"if ({self.text(statement.expressions[0])})", statement.blocks[0], depth)
        if len(statement.blocks) > 1:
            lines[-1:] = self._braces("} else", statement.blocks[1], depth)
        return lines

    def _do_for(self, statement: Statement, depth: int) -> list[str]:
        name, type, most, step = statement.data
        bound = f"{type}({self.text(statement.expressions[0])}) & {type}({most})"
        change = f"++{name}" if step == 1 else f"{name} += {step}"
        return self._braces(f"for ({type} {name} = 0; {name} < ({bound}); {change})", statement.blocks[0], depth)

    def _do_walk(self, statement: Statement, depth: int) -> list[str]:
        name, type, most = statement.data
        bound, start, step = map(self.text, statement.expressions)
        turn, by = f"turn_{name}", f"by_{name}"
        opening = f"for (uint {turn} = 0; {turn} < (uint({bound}) & {most}u); ++{turn}, {name} += {by})"
        inner = self._braces(opening, statement.blocks[0], depth + 1)
        names = [f"  {type} {name} = {type}({start});", f"  const {type} {by} = {type}({step});"]
        return ["{", *names, *_indented(inner, depth + 1), "}"]

    def _do_while(self, statement: Statement, depth: int) -> list[str]:
        name, type, most = statement.data
        condition = self.text(statement.expressions[0])
        inner = self._braces(f"while ({name}++ < {most} && {condition})", statement.blocks[0], depth + 1)
        return ["{", f"  {type} {name} = 0;", *_indented(inner, depth + 1), "}"]

    def _do_do(self, statement: Statement, depth: int) -> list[str]:
        name, type, most = statement.data
        condition = self.text(statement.expressions[0])
        end = f"}} while (++{name} < {most} && {condition});"
        inner = self._braces("do", statement.blocks[0], depth + 1, end)
        return ["{", f"  {type} {name} = 0;", *_indented(inner, depth + 1), "}"]

    def _do_switch(self, statement: Statement, depth: int) -> list[str]:
        labels, falls, count = statement.data
        lines = [f"switch (int({self.text(statement.expressions[0])} & {count - 1})) {{"]
        last = len(labels) - 1
        for number, (some, block, goes_on) in enumerate(zip(labels, statement.blocks, falls, strict=True)):
            names = " ".join("default:" if label is None else f"case {label}:" for label in some)
            end = "break;" if not goes_on else "" if number == last else "[[fallthrough]];"
            inner = self._braces(names, block, depth + 1, f"}} {end}".rstrip())
            lines += _indented(inner, depth + 1)
        return [*lines, "}"]

    def _do_break(self, statement: Statement, depth: int) -> str:
        return "break;"

    def _do_continue(self, statement: Statement, depth: int) -> str:
        return "continue;"

    def _do_return(self, statement: Statement, depth: int) -> str:
        if not statement.expressions:
            return "return;"
        result = next(function.result for function in self.program.functions if function.name == statement.data)
        return f"return {self._as(statement.expressions[0], result)};"

    def _slot(self, slot: int) -> str:
        name = str(self.program.slots[slot])
        slots = slots_by_type(self.program)[name]
        if self.program.layout == "rows":
            return f"out_{name}[g * {len(slots)}u + {slots.index(slot)}u]"
        return f"out_{name}[{slots.index(slot)}u * total + g]"

    def _do_store(self, statement: Statement, depth: int) -> str:
        return (
            f"{self._slot(statement.data)} = {self._as(statement.expressions[0], self.program.slots[statement.data])};"
        )

    def _do_approximate(self, statement: Statement, depth: int) -> str:
        slot, name = statement.data
        function = functions.approximate[name]
        part = f"float(int({self.text(statement.expressions[0])} & 1023))"
        return f"{self._slot(slot)} = {name}({float(function.low)!r}f + {part} * {float(function.step)!r}f);"

    def _do_atomic(self, statement: Statement, depth: int) -> str | list[str]:
        index, value = map(self.text, statement.expressions)
        name, relaxed = statement.data, "memory_order_relaxed"
        atomic, place = atomics[name], f"&atomic_{name}_[{index} & {atomic_length - 1}]"
        value = f"float(uint({value}) & 255u)" if atomic.type == "float" else f"{atomic.type}({value})"
        if atomic.spelling:
            return f"atomic_fetch_{atomic.spelling}_explicit({place}, {value}, {relaxed});"
        return [
            "{",
            f"  device atomic_uint* place = {place};",
            f"  const uint more = {value};",
            f"  uint old = atomic_load_explicit(place, {relaxed});",
            f"  while (!atomic_compare_exchange_weak_explicit(place, &old, old + more, {relaxed}, {relaxed}));",
            "}",
        ]

    def _do_ticket(self, statement: Statement, depth: int) -> list[str]:
        """Each number is drawn once, whoever draws it."""
        place = statement.data
        draw = f"atomic_fetch_add_explicit(&tickets[{place}], {place + 1}u, memory_order_relaxed)"
        return [f"atomic_fetch_xor_explicit(&tickets[{place + 1}], {draw} * 2654435761u, memory_order_relaxed);"]

    _barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);"

    def _do_exchange(self, statement: Statement, depth: int) -> list[str]:
        type, write, _ = statement.data
        target, _, index, condition = map(self.text, statement.expressions)
        most = most_threads_per_group
        read = f"shared_{type}[{index} & {most - 1}]"
        if statement.expressions[0].type != type:
            read = f"{statement.expressions[0].type}({read})"
        return [
            self._barrier,
            f"if ({condition}) shared_{type}[({write}) & {most - 1}] = {self._as(statement.expressions[1], type)};",
            self._barrier,
            f"{target} = {read};",
        ]

    def _do_gather(self, statement: Statement, depth: int) -> list[str]:
        target, index, value, read = map(self.text, statement.expressions)
        name = statement.data
        start = f"{atomics[name].start}u"
        relaxed = "memory_order_relaxed"
        return [
            self._barrier,
            f"if (t == 0) for (uint k = 0; k < 8; ++k) atomic_store_explicit(&here[k], {start}, {relaxed});",
            self._barrier,
            f"atomic_fetch_{name}_explicit(&here[{index} & 7], uint({value}), {relaxed});",
            self._barrier,
            f"{target} = {statement.expressions[0].type}(atomic_load_explicit(&here[{read} & 7], {relaxed}));",
        ]

    # The whole

    def _function(self, function: Function) -> str:
        parameters = []
        for parameter in function.parameters:
            if parameter.kind == "struct":
                parameters.append(f"thread {parameter.struct.name}_{self.name}& {parameter.name}")
                continue
            mark = {"value": " ", "reference": "& ", "pointer": "* "}[parameter.kind]
            space = "" if parameter.kind == "value" else f"{parameter.space} "
            parameters.append(f"{space}{parameter.type}{mark}{parameter.name}")
        parameters += ["uint g", "uint lane"]
        kind = "inline" if function.is_inline else "__attribute__((noinline))"
        opening = f"{kind} {function.result or 'void'} {function.name}_{self.name}({', '.join(parameters)})"
        return "\n".join(self._braces(opening, function.body, 0)) + "\n"

    def source(self) -> str:
        functions_text = self._declarations() + "".join(map(self._function, self.program.functions))
        body = self.lines(self.program.body, 1)
        prologue = ["  " + line for line in self._prologue(" ".join(body))]
        words = set(re.findall(r"\w+", " ".join([*prologue, *body])))
        return (
            functions_text
            + "\n".join([f"kernel void {self.name}({self._parameters(words)}) {{", *prologue, *body, "}"])
            + "\n"
        )

    def _declarations(self) -> str:
        lines = []
        for struct in self.program.structs:
            members = [f"{type} {name};" for name, type in struct.members.items()]
            members += [f"{type} {name}[{length}];" for name, (type, length) in struct.arrays.items()]
            lines.append(f"struct {struct.name}_{self.name} {{ {' '.join(members)} }};\n")
        for name, type, values in self.program.tables:
            numbers = ", ".join(constant(value, type) for value in values)
            lines.append(f"constant {type} {name}_{self.name}[{len(values)}] = {{{numbers}}};\n")
        return "".join(lines)

    def _prologue(self, body: str) -> list[str]:
        axes = "xyz"[: self.program.dimensions]
        parts = {
            name: [name] if len(axes) == 1 else [f"{name}.{axis}" for axis in axes] for name in ("p", "grid", "size")
        }
        g, total = parts["p"][0], parts["grid"][0]
        for place, extent in zip(parts["p"][1:], parts["grid"][1:], strict=True):
            g, total = f"{g} + {total} * {place}", f"{total} * {extent}"
        lines = [f"uint g = {g};"] if re.search(r"\bg\b", body) else []
        lines += [f"uint total = {total};"] if re.search(r"\btotal\b", body) else []
        for name in {str(s.data[0]): None for s in all_statements(self.program) if s.kind == "exchange"}:
            lines.append(f"threadgroup {name} shared_{name}[{most_threads_per_group}];")
            step = " * ".join(parts["size"])
            lines.append(f"for (uint k = t; k < {most_threads_per_group}; k += {step}) shared_{name}[k] = {name}(0);")
        if any(s.kind == "gather" for s in all_statements(self.program)):
            lines.append("threadgroup atomic_uint here[8];")
        return lines

    def _parameters(self, words: set[str]) -> str:
        """Those that the kernel uses; `buffers` are their names in the order of their indices."""
        program, lanes = self.program, "" if self.program.dimensions == 1 else str(self.program.dimensions)
        index = program.index_type
        parts = {name: f"constant {type}& " for name, type in arguments.items()}
        parts |= {f"out_{type}": f"device {type}* " for type in slots_by_type(program)}
        parts |= {f"in_{name}": f"const device {name}* " for name in sorted(self.inputs)}
        parts |= {f"own_{name}": f"device {name}* " for name in sorted(self.own)}
        used = sorted({s.data for s in all_statements(program) if s.kind == "atomic"})
        parts |= {f"atomic_{name}_": f"device atomic_{atomics[name].type}* " for name in used}
        parts |= {"tickets": "device atomic_uint* "}
        self.buffers = [name for name in parts if name in words]
        built_in = {
            "p": (f"uint{lanes}", "thread_position_in_grid"),
            "grid": (f"uint{lanes}", "threads_per_grid"),
            "w": (f"uint{lanes}", "threadgroup_position_in_grid"),
            "groups": (f"uint{lanes}", "threadgroups_per_grid"),
            "q": (f"{index}{lanes}", "thread_position_in_threadgroup"),
            "size": (f"{index}{lanes}", "threads_per_threadgroup"),
            "t": (index, "thread_index_in_threadgroup"),
            "lane": (index, "thread_index_in_simdgroup"),
            "simd": (index, "simdgroup_index_in_threadgroup"),
            "simds": (index, "simdgroups_per_threadgroup"),
        }
        texts = [parts[name] + name for name in self.buffers]
        texts += [f"{type} {name} [[{what}]]" for name, (type, what) in built_in.items() if name in words]
        return ",\n    ".join(texts)


def _indented(lines: list[str], depth: int) -> list[str]:
    return ["  " * depth + line if line[:1] != " " else line for line in lines]


def library_source(kernels: list[tuple[str, Program]]) -> tuple[str, dict[str, Printer]]:
    """The kernels under their names as one source."""
    helpers: dict[str, str] = {}
    printers, texts = {}, []
    for name, program in kernels:
        printers[name] = printer = Printer(program, name)
        texts.append(printer.source())
        helpers.update(printer.used_helpers)
    order = [helper for helper in helpers if helper.endswith("takes_part")]
    order += [helper for helper in helpers if helper not in order]
    return "\n".join([head + no_contraction, *(helpers[name] for name in order), *texts]), printers
