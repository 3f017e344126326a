"""Four instructions that Python has no word for, by Numba's public `intrinsic`; Python calls the plain functions.

Without the first three the flit simulator takes 1.2 times as long, with adaptive routing 1.4 times; without
the last the queueing simulator takes 1.3 times as long on networks that do not fit in the cache.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload


def _assumed(builder: Any, known: Any) -> None:
    assumption = builder.module.declare_intrinsic("llvm.assume", fnty=ir.FunctionType(ir.VoidType(), [ir.IntType(1)]))
    builder.call(assumption, [known])


@intrinsic
def _lowest(typingctx, bits):
    def codegen(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.intp(types.intp), codegen


@intrinsic
def _natural(typingctx, number):
    def codegen(context, builder, signature, arguments):
        _assumed(builder, builder.icmp_signed(">=", arguments[0], arguments[0].type(0)))
        return arguments[0]

    return types.intp(types.intp), codegen


@intrinsic
def _assume(typingctx, known):
    def codegen(context, builder, signature, arguments):
        _assumed(builder, arguments[0])
        return context.get_dummy_value()

    return types.void(types.boolean), codegen


@intrinsic
def _ask_for(typingctx, table, line):
    def codegen(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        line = arguments[1]
        i8, i32 = ir.IntType(8), ir.IntType(32)
        start = builder.ptrtoint(array.data, line.type)
        pointer = builder.inttoptr(
            builder.add(start, builder.mul(line, builder.extract_value(array.strides, 0))), i8.as_pointer()
        )
        kind = ir.FunctionType(ir.VoidType(), [i8.as_pointer(), i32, i32, i32])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [i8.as_pointer()], kind)
        builder.call(prefetch, [pointer, i32(1), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.void(table, line), codegen


def lowest(bits: int) -> int:
    """Return the number of the lowest bit that is set."""
    return int((int(bits) & -int(bits)).bit_length() - 1)


def natural(number: int) -> int:
    """Return a number that is known not to be negative: as an index it needs no test for counting from the end."""
    assert number >= 0
    return number


def assume(known: bool) -> None:
    """Tell the compiler what is known to be true."""
    assert known


def ask_for(table: Any, line: Any) -> None:
    """Ask for the memory of a line of a table before it is needed; changes nothing."""


overload(lowest, inline="always")(lambda bits: lambda bits: _lowest(bits))
overload(natural, inline="always")(lambda number: lambda number: _natural(number))
overload(assume, inline="always")(lambda known: lambda known: _assume(known))
overload(ask_for, inline="always")(lambda table, line: lambda table, line: _ask_for(table, line))
