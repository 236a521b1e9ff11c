import type { FunctionDeclaration, Implementation, Overload } from '../check/declarations.js';
import { declare, overload } from '../check/declarations.js';
import type { Expr } from '../syntax/ast.js';
import type { Macro } from '../syntax/macros.js';
import { MacroError } from '../syntax/macros.js';
import type { CelType } from '../types.js';
import { listOf, types } from '../types.js';
import { checkedInt, int, isInt, numeric } from '../values/numbers.js';
import { listArray } from '../values/lists.js';
import { compare } from '../values/operations.js';
import type { ListValue, Value } from '../values/value.js';
import { CelError, Double, Uint } from '../values/value.js';
import { spend } from '../work.js';
import type { Library } from './library.js';

/** math.greatest, math.abs, math.bitAnd and the like. */
const { bool, double, dyn, int: intType, uint } = types;

/** `math.least` and `math.greatest` take any number of arguments; a macro makes a call of one or two of them. */
function extremeMacro(name: string, fn: string): Macro {
  return {
    name,
    argCount: -1,
    isMember: true,
    expand: (factory, target, args) => {
      if (target.kind !== 'ident' || target.name !== 'math') return undefined;
      const shown = `math.${name}()`;
      if (args.length === 0) throw new MacroError(target.id, `${shown} requires at least one argument`);
      if (args.length === 1) {
        if (isNumericList(args[0]!) || mayBeNumber(args[0]!)) return factory.call(fn, args[0]!);
        throw new MacroError(args[0]!.id, `${shown} invalid single argument value`);
      }
      const wrong = args.find((arg) => !mayBeNumber(arg));
      if (wrong) throw new MacroError(wrong.id, `${shown} simple literal arguments must be numeric`);
      return args.length === 2 ? factory.call(fn, ...args) : factory.call(fn, factory.list(...args));
    },
  };
}
function mayBeNumber(arg: Expr): boolean {
  if (arg.kind === 'literal') return numeric(arg.value) !== undefined;
  return arg.kind !== 'list' && arg.kind !== 'map' && arg.kind !== 'struct';
}
const isNumericList = (arg: Expr): boolean =>
  arg.kind === 'list' && arg.elements.length > 0 && arg.elements.every(mayBeNumber);

function extreme(name: 'min' | 'max'): FunctionDeclaration {
  const fn = `math.@${name}`;
  const replaces = name === 'min' ? 1 : -1;
  const pair = (first: Value, second: Value): Value => {
    const order = compare(first, second);
    if (order instanceof CelError) return order.message.includes(fn) ? order : new CelError(`${order.message}: ${fn}`);
    return order === replaces ? second : first;
  };
  const ofList: Implementation = (list) => {
    const numbers = listArray(list as ListValue);
    spend(numbers.length * 5);
    if (numbers.length === 0) return new CelError(`${fn}(list) argument must not be empty`);
    const result = numbers.reduce(pair);
    return numeric(result) === undefined && !(result instanceof CelError)
      ? new CelError(`no such overload: ${fn}`)
      : result;
  };
  const kinds = [double, intType, uint];
  const overloads: Overload[] = kinds.map((type) =>
    overload(`${prefix(name)}_${type.name}`, [type], type, (value) => value!),
  );
  for (const left of kinds)
    for (const right of kinds) {
      const result = left === right ? left : dyn;
      overloads.push(
        overload(`${prefix(name)}_${left.name}_${right.name}`, [left, right], result, (a, b) => pair(a, b)),
      );
    }
  overloads.push(...kinds.map((type) => overload(`${prefix(name)}_list_${type.name}`, [listOf(type)], type, ofList)));
  return declare(fn, ...overloads);
}
const prefix = (name: string): string => `math_@${name}`;

const ofDouble = (name: string, result: CelType, read: (value: number) => Value): FunctionDeclaration =>
  declare(
    `math.${name}`,
    overload(`math_${name}_double`, [double], result, (value) => read((value as Double).value)),
  );
const rounding = (name: string, round: (value: number) => number): FunctionDeclaration =>
  ofDouble(name, double, (value) => new Double(round(value)));
/** Halves are rounded away from zero. */
const round = (value: number): number => {
  const whole = Math.trunc(value);
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
};

const sqrt: Implementation = (value) => new Double(Math.sqrt(Number(numeric(value))));

type Bitwise = (a: bigint, b: bigint) => bigint;
function bitwise(name: string, compute: Bitwise): FunctionDeclaration {
  return declare(
    `math.${name}`,
    overload(`math_${name}_int_int`, [intType, intType], intType, (a, b) =>
      int(BigInt.asIntN(64, compute(BigInt(a as number), BigInt(b as number)))),
    ),
    overload(
      `math_${name}_uint_uint`,
      [uint, uint],
      uint,
      (a, b) => new Uint(BigInt.asUintN(64, compute((a as Uint).value, (b as Uint).value))),
    ),
  );
}
function shift(name: string, compute: (value: bigint, bits: bigint) => bigint): FunctionDeclaration {
  const checked = (bits: Value | undefined, run: (bits: bigint) => Value): Value => {
    const count = BigInt(bits as number | bigint);
    if (count < 0n) return new CelError(`math.${name}() negative offset: ${count}`);
    return run(count > 64n ? 64n : count);
  };
  return declare(
    `math.${name}`,
    overload(`math_${name}_int_int`, [intType, intType], intType, (value, bits) =>
      checked(bits, (count) => int(BigInt.asIntN(64, compute(BigInt.asUintN(64, BigInt(value as number)), count)))),
    ),
    overload(`math_${name}_uint_int`, [uint, intType], uint, (value, bits) =>
      checked(bits, (count) => new Uint(BigInt.asUintN(64, compute((value as Uint).value, count)))),
    ),
  );
}

export const mathLibrary: Library = {
  name: 'cel.lib.ext.math',
  macros: [extremeMacro('least', 'math.@min'), extremeMacro('greatest', 'math.@max')],
  functions: [
    extreme('min'),
    extreme('max'),
    rounding('ceil', Math.ceil),
    rounding('floor', Math.floor),
    rounding('round', round),
    rounding('trunc', Math.trunc),
    ofDouble('isInf', bool, (value) => value === Infinity || value === -Infinity),
    ofDouble('isNaN', bool, Number.isNaN),
    ofDouble('isFinite', bool, Number.isFinite),
    declare(
      'math.abs',
      overload('math_abs_double', [double], double, (value) => new Double(Math.abs((value as Double).value))),
      overload('math_abs_int', [intType], intType, (value) => {
        const whole = BigInt(value as number | bigint);
        return checkedInt(whole < 0n ? -whole : whole);
      }),
      overload('math_abs_uint', [uint], uint, (value) => value!),
    ),
    declare(
      'math.sign',
      overload('math_sign_double', [double], double, (value) => new Double(Math.sign((value as Double).value) + 0)),
      overload('math_sign_int', [intType], intType, (value) =>
        isInt(value) ? (value > 0 ? 1 : value < 0 ? -1 : 0) : 0,
      ),
      overload('math_sign_uint', [uint], uint, (value) => new Uint((value as Uint).value === 0n ? 0n : 1n)),
    ),
    declare(
      'math.sqrt',
      overload('math_sqrt_double', [double], double, sqrt),
      overload('math_sqrt_int', [intType], double, sqrt),
      overload('math_sqrt_uint', [uint], double, sqrt),
    ),
    bitwise('bitAnd', (a, b) => a & b),
    bitwise('bitOr', (a, b) => a | b),
    bitwise('bitXor', (a, b) => a ^ b),
    declare(
      'math.bitNot',
      overload('math_bitNot_int_int', [intType], intType, (value) => int(~BigInt(value as number | bigint))),
      overload('math_bitNot_uint_uint', [uint], uint, (value) => new Uint(BigInt.asUintN(64, ~(value as Uint).value))),
    ),
    shift('bitShiftLeft', (value, bits) => value << bits),
    shift('bitShiftRight', (value, bits) => value >> bits),
  ],
};
