"""Runs a program with NumPy on all threads of a grid at once. Every statement has a mask of the threads that take part
in it, which the structure of the program gives: branches split it, and it is whole again behind them; threads that
break, continue or return are out of it until where they go on."""

from __future__ import annotations

import numpy as np

from . import arithmetic, functions
from .evaluate_expressions import Expressions
from .memory import atomic_length, atomics, most_threads_per_group
from .places import ChosenPointer, Pointer, Variable
from .program import Expression, Statement
from .scalar_types import Type, common_type, promoted, type_of


class Jump:
    """Where a loop's or switch's threads are that left its body early."""

    def __init__(self, none: np.ndarray, is_loop: bool) -> None:
        self.broken, self.continued, self.is_loop = none.copy(), none.copy(), is_loop


class Evaluator(Expressions):
    """After `run`: `slots` are what threads wrote, `scratch` their own memory by type, `atomics` those by function."""

    def run(self) -> None:
        with np.errstate(all="ignore"):
            self.block(self.program.body)

    def block(self, statements: list[Statement]) -> None:
        for statement in statements:
            if not self.mask.any():
                return
            getattr(self, "_do_" + statement.kind)(statement)

    def _do_declare(self, statement: Statement) -> None:
        name, type = statement.data
        values = self._zeros(type)
        values[...] = self.converted(statement.expressions[0], type)
        self.frame.names[name] = Variable(values)

    def _do_array(self, statement: Statement) -> None:
        name, type, length = statement.data
        values = self._zeros(type, length)
        for number, expression in enumerate(statement.expressions):
            values[number] = self.converted(expression, type)
        self.frame.names[name] = Pointer(values, np.zeros(1, np.int64))

    def _do_struct(self, statement: Statement) -> None:
        name, struct = statement.data
        values = iter(statement.expressions)
        for member, type in struct.members.items():
            place = Variable(self._zeros(type))
            place.values[...] = self.converted(next(values), type)
            self.frame.names[f"{name}.{member}"] = place
        for member, (type, length) in struct.arrays.items():
            self.frame.names[f"{name}.{member}"] = Pointer(self._zeros(type, length), np.zeros(1, np.int64))

    def _do_copy(self, statement: Statement) -> None:
        """One struct becomes another's value; or is declared with it."""
        target, source, struct, declares = statement.data
        names = self.frame.names
        for member in (*struct.members, *struct.arrays):
            from_ = names[f"{source}.{member}"].values
            if declares:
                made = from_.copy()
                names[f"{target}.{member}"] = (
                    Variable(made) if member in struct.members else Pointer(made, np.zeros(1, np.int64))
                )
            else:
                np.copyto(names[f"{target}.{member}"].values, from_, where=self.mask)

    def _do_pointer(self, statement: Statement) -> None:
        """To one of two arrays, by thread."""
        name = statement.data[0]
        condition, one, other = statement.expressions
        truth = np.broadcast_to(self.value(condition), self.threads.total)
        pointers = [self.array_of(address.data[0]).moved(address.data[1]) for address in (one, other)]
        self.frame.names[name] = ChosenPointer(truth, *pointers)

    def _do_reference(self, statement: Statement) -> None:
        self.frame.names[statement.data[0]] = self.place(statement.expressions[0])

    def _do_assign(self, statement: Statement) -> None:
        target, value = statement.expressions
        if statement.data != "=":
            value = Expression("binary", _result_type(statement.data[:-1], target.type, value.type), [target, value])
            value.data = statement.data[:-1]
            result = arithmetic.convert(np.asarray(self._binary(value)), value.type, target.type)
        else:
            result = self.converted(value, target.type)
        self.place(target).set(result, self.mask)

    def _do_step(self, statement: Statement) -> None:
        place = self.place(statement.expressions[0])
        one = statement.expressions[0].type.dtype.type(1)
        value = place.get()
        place.set(value + one if statement.data == "++" else value - one, self.mask)

    def _do_run(self, statement: Statement) -> None:
        self.value(statement.expressions[0])

    def _do_block(self, statement: Statement) -> None:
        self.block(statement.blocks[0])

    def _do_if(self, statement: Statement) -> None:
        truth = self.value(statement.expressions[0])
        before = self.mask
        self.mask = before & truth
        self.block(statement.blocks[0])
        behind = self.mask
        self.mask = before & ~truth
        if len(statement.blocks) > 1:
            self.block(statement.blocks[1])
        self.mask = behind | self.mask

    def _loop(self, statement: Statement, counter: Variable, tests) -> None:
        """`tests(first)` says of the threads in the mask which go on for another turn."""
        jump = Jump(self.none, True)
        self.frame.jumps.append(jump)
        left, first = self.none.copy(), True
        while self.mask.any():
            goes_on = tests(first)
            first = False
            left |= self.mask & ~goes_on
            self.mask = self.mask & goes_on
            if not self.mask.any():
                break
            self.block(statement.blocks[0])
            self.mask = self.mask | jump.continued
            jump.continued[:] = False
        self.frame.jumps.pop()
        self.mask = left | jump.broken

    def _counter(self, name: str, type: Type, start: int = 0) -> Variable:
        counter = Variable(self._zeros(type))
        counter.values[...] = start
        self.frame.names[name] = counter
        return counter

    def _do_for(self, statement: Statement) -> None:
        name, type, most, step = statement.data
        counter = self._counter(name, type)

        def tests(first: bool) -> np.ndarray:
            if not first:
                counter.set(counter.values + type.dtype.type(step), self.mask)
            bound = arithmetic.convert(
                np.asarray(self.value(statement.expressions[0])), statement.expressions[0].type, type
            )
            return counter.values < (bound & type.dtype.type(most))

        self._loop(statement, counter, tests)

    def _do_walk(self, statement: Statement) -> None:
        """The counter of the turns is none of the program's; what walks may wrap."""
        name, type, most = statement.data
        bound, start, step = statement.expressions
        place = self._counter(name, type)
        place.values[...] = self.converted(start, type)
        by, turn = self._zeros(type), self._zeros(type_of("uint"))
        by[...] = self.converted(step, type)

        def tests(first: bool) -> np.ndarray:
            if not first:
                np.copyto(turn, turn + np.uint32(1), where=self.mask)
                place.set(place.values + by, self.mask)
            return turn < (self.converted(bound, type_of("uint")) & np.uint32(most))

        self._loop(statement, place, tests)

    def _do_while(self, statement: Statement) -> None:
        name, type, most = statement.data
        counter = self._counter(name, type)

        def tests(first: bool) -> np.ndarray:
            goes_on = counter.values < most
            counter.set(counter.values + type.dtype.type(1), self.mask)
            return goes_on & self.value_where(statement.expressions[0], goes_on)

        self._loop(statement, counter, tests)

    def _do_do(self, statement: Statement) -> None:
        name, type, most = statement.data
        counter = self._counter(name, type)

        def tests(first: bool) -> np.ndarray:
            if first:
                return ~self.none
            counter.set(counter.values + type.dtype.type(1), self.mask)
            goes_on = counter.values < most
            return goes_on & self.value_where(statement.expressions[0], goes_on)

        self._loop(statement, counter, tests)

    def _do_switch(self, statement: Statement) -> None:
        labels, falls, count = statement.data
        value = np.asarray(self.value(statement.expressions[0])).astype(np.int64) & (count - 1)
        value = np.broadcast_to(value, self.threads.total)
        jump = Jump(self.none, False)
        self.frame.jumps.append(jump)
        before, named = self.mask, [label for some in labels for label in some if label is not None]
        inside, entered = self.none, self.none
        for some, block, goes_on in zip(labels, statement.blocks, falls, strict=True):
            chosen = np.isin(value, [label for label in some if label is not None])
            if None in some:
                chosen = chosen | ~np.isin(value, named)
            entered = entered | chosen
            self.mask = inside | (before & chosen)
            self.block(block)
            inside = self.mask
            if not goes_on:
                jump.broken |= inside
                inside = self.none
        self.frame.jumps.pop()
        self.mask = inside | jump.broken | (before & ~entered)

    def _do_break(self, statement: Statement) -> None:
        self.frame.jumps[-1].broken |= self.mask
        self.mask = self.none.copy()

    def _do_continue(self, statement: Statement) -> None:
        next(jump for jump in reversed(self.frame.jumps) if jump.is_loop).continued |= self.mask
        self.mask = self.none.copy()

    def _do_return(self, statement: Statement) -> None:
        if statement.expressions:
            type = self.functions[statement.data].result
            np.copyto(self.frame.result, self.converted(statement.expressions[0], type), where=self.mask)
        self.mask = self.none.copy()

    def _do_store(self, statement: Statement) -> None:
        type = self.program.slots[statement.data]
        np.copyto(self.slots[statement.data], self.converted(statement.expressions[0], type), where=self.mask)

    def _do_approximate(self, statement: Statement) -> None:
        """The argument in the function's domain, as `low + part * step`, and the function of it in double."""
        slot, name = statement.data
        function = functions.approximate[name]
        part = np.asarray(self.value(statement.expressions[0])).astype(np.int64) & 1023
        result = function.compute(function.argument(part))
        np.copyto(self.slots[slot], result, where=self.mask)

    def _do_atomic(self, statement: Statement) -> None:
        index = np.broadcast_to(self._index(statement.expressions[0], atomic_length), self.threads.total)
        value = np.broadcast_to(self.converted(statement.expressions[1], type_of("uint")), self.threads.total)
        atomic = atomics[statement.data]
        atomic.compute.at(self.atomics[statement.data], index[self.mask], atomic.operand(value[self.mask]))

    def _do_ticket(self, statement: Statement) -> None:
        place, drawn = statement.data, int(self.mask.sum())
        numbers = self.tickets[place] + np.arange(drawn, dtype=np.uint32) * np.uint32(place + 1)
        self.tickets[place] += np.uint32(drawn * (place + 1))
        self.tickets[place + 1] ^= np.bitwise_xor.reduce(numbers * np.uint32(2654435761))

    def _do_exchange(self, statement: Statement) -> None:
        type, write, _ = statement.data
        target, value, index, condition = statement.expressions
        name = str(type)
        if name not in self.shared:
            shape = (self.threads.group_count, most_threads_per_group, *([type.lanes] if type.lanes > 1 else []))
            self.shared[name] = np.zeros(shape, type.dtype)
        shared, group = self.shared[name], self.threads.group_index
        outer, who = self.mask, self.mask & self.value(condition)
        self.mask = who
        values = np.broadcast_to(self.converted(value, type), self._zeros(type).shape)
        self.mask = outer
        where = write_places[write](self.threads.index) & (most_threads_per_group - 1)
        shared[group[who], where[who]] = values[..., who].T
        read = np.broadcast_to(self._index(index, most_threads_per_group), self.threads.total)
        self.place(target).set(
            arithmetic.convert(np.ascontiguousarray(shared[group, read].T), type, target.type), self.mask
        )

    def _do_gather(self, statement: Statement) -> None:
        """Atomic operations on threadgroup memory between barriers, and what comes of them."""
        target, index, value, read = statement.expressions
        name, group = statement.data, self.threads.group_index
        here = np.full((self.threads.group_count, 8), atomics[name].start, np.uint32)
        where = np.broadcast_to(self._index(index, 8), self.threads.total)
        values = np.broadcast_to(self.converted(value, type_of("uint")), self.threads.total)
        atomics[name].compute.at(here, (group[self.mask], where[self.mask]), values[self.mask])
        found = here[group, np.broadcast_to(self._index(read, 8), self.threads.total)]
        self.place(target).set(arithmetic.convert(found, type_of("uint"), target.type), self.mask)


def _result_type(operator: str, left: Type, right: Type) -> Type:
    return promoted(left) if operator in ("<<", ">>") else common_type(left, right)


# Where a thread writes in the threadgroup's array: different threads, different places.
write_places = {
    "t": lambda t: t,
    "255u - t": lambda t: 255 - t,
    "t ^ 37u": lambda t: t ^ 37,
    "t * 5u": lambda t: t * 5,
    "t + 100u": lambda t: t + 100,
}
