import type { FunctionDeclaration, Implementation, Overload } from '../check/declarations.js';
import type { CallCost } from '../cost/costs.js';
import type { CelType } from '../types.js';
import { isList, listAt, listSize } from '../values/lists.js';
import { isMap } from '../values/maps.js';
import type { Value } from '../values/value.js';
import { CelError, typeOf } from '../values/value.js';
import type { Evaluate } from './frame.js';

/** True if the value may be an argument for the parameter. */
function accepts(param: CelType, value: Value): boolean {
  if (param.isDyn || param.kind === 'param') return true;
  if (param.name !== typeOf(value).name) return false;
  if (param.kind === 'list' && isList(value))
    return listSize(value) === 0 || accepts(param.params[0]!, listAt(value, 0));
  if (param.kind === 'map' && isMap(value)) {
    for (const key of value.keys())
      return accepts(param.params[0]!, key) && accepts(param.params[1]!, value.find(key)!);
  }
  return true;
}

/** True if values of the static type always fit the parameter, so that none has to be looked at. */
function isSafe(param: CelType, arg: CelType): boolean {
  if (param.isDyn || param.kind === 'param') return true;
  return (
    !arg.isDyn &&
    !arg.isWrapper &&
    arg.kind === param.kind &&
    param.params.every((inner, index) => isSafe(inner, arg.params[index]!))
  );
}

function noOverload(fn: string, args: readonly Value[]): CelError {
  return new CelError(`no such overload: ${fn}(${args.map((arg) => typeOf(arg).name).join(', ')})`);
}

/** Finds what a call does: the implementation of its one overload, or a choice by the values of its arguments. */
export function invokerOf(
  declared: FunctionDeclaration,
  overloadId: string,
  args: readonly { readonly evaluate: Evaluate }[],
  argTypes: readonly CelType[],
): Invoker {
  if (declared.impl) return new Invoker(declared.impl, args, { isNonStrict: declared.isNonStrict === true });
  const overload = declared.overloads.find(({ id }) => id === overloadId);
  if (!overload?.impl) return new Invoker(choice(declared), args, { stopsAtError: true });
  const impl = declared.isUnguarded ? overload.impl : guarded(declared.name, overload, argTypes);
  return new Invoker(impl, args, { stopsAtError: args.length > 2 });
}

function guarded(fn: string, { params, impl }: Overload, argTypes: readonly CelType[]): Implementation {
  if (params.every((param, index) => isSafe(param, argTypes[index]!))) return impl!;
  return (...args) =>
    params.every((param, index) => accepts(param, args[index]!)) ? impl!(...args) : noOverload(fn, args);
}

function choice(declared: FunctionDeclaration): Implementation {
  return (...args) => {
    for (const { params, impl } of declared.overloads) {
      if (!impl || params.length !== args.length) continue;
      if (params.every((param, index) => accepts(param, args[index]!))) return impl(...args);
    }
    return noOverload(declared.name, args);
  };
}

interface InvokerOptions {
  readonly isNonStrict?: boolean;
  /** True if an error ends the evaluation of the arguments; then the call costs nothing itself. */
  readonly stopsAtError?: boolean;
}

export class Invoker {
  private readonly args: readonly Evaluate[];
  constructor(
    private readonly impl: Implementation,
    args: readonly { readonly evaluate: Evaluate }[],
    private readonly options: InvokerOptions,
  ) {
    this.args = args.map(({ evaluate }) => evaluate);
  }

  call(args: readonly Value[]): Value {
    return this.impl(...args);
  }

  withCost(cost: CallCost | undefined): Evaluate {
    const { impl } = this;
    const { isNonStrict, stopsAtError } = this.options;
    const [first, second] = this.args;
    // A cost that needs no result is counted before the call, so that none is made that cannot be paid.
    const isBefore = !cost || cost.length < 2;
    if (this.args.length === 1) {
      return (frame) => {
        const arg = first!(frame);
        if (isBefore) frame.charge(cost ? cost([arg], null) : 1);
        const result = arg instanceof CelError && !isNonStrict ? arg : impl(arg);
        if (!isBefore) frame.charge(cost([arg], result));
        return result;
      };
    }
    if (this.args.length === 2 && !stopsAtError) {
      return (frame) => {
        const left = first!(frame);
        const right = second!(frame);
        if (isBefore) frame.charge(cost ? cost([left, right], null) : 1);
        const error = left instanceof CelError ? left : right instanceof CelError ? right : undefined;
        const result = error ?? impl(left, right);
        if (!isBefore) frame.charge(cost([left, right], result));
        return result;
      };
    }
    return this.withManyArgs(cost);
  }

  private withManyArgs(cost: CallCost | undefined): Evaluate {
    const { impl, args } = this;
    const isBefore = !cost || cost.length < 2;
    return (frame) => {
      const values: Value[] = [];
      let result: Value | undefined;
      for (let index = 0; index < args.length; index++) {
        const value = args[index]!(frame);
        values.push(value);
        if (!(value instanceof CelError)) continue;
        if (index < args.length - 1) return value;
        result = value;
      }
      if (isBefore) frame.charge(cost ? cost(values, null) : 1);
      result ??= impl(...values);
      if (!isBefore) frame.charge(cost(values, result));
      return result;
    };
  }
}
