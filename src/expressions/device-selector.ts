import { declare, member } from '../cel/check/declarations.js';
import type { SizeEstimator } from '../cel/cost/costs.js';
import { fixed } from '../cel/cost/costs.js';
import type { DeclaredType } from '../cel/declared/declared-type.js';
import type { Environment } from '../cel/environment.js';
import { bindingsLibrary } from '../cel/libraries/bindings.js';
import { quantityType } from '../cel/libraries/kubernetes/quantity.js';
import type { Library } from '../cel/libraries/library.js';
import { types } from '../cel/types.js';
import { elementsOf, isList } from '../cel/values/lists.js';
import { equal } from '../cel/values/operations.js';
import { CelError } from '../cel/values/value.js';
import type { Steps } from '../std/steps.js';
import { scalar, struct, map, text } from './declared-types.js';
import { compileExpression, environmentOf, type CompiledExpression, type ExpressionMode } from './environment.js';

/** The limit on the estimated cost of a selector. */
export const deviceSelectorCostMax = 1_000_000n;

const textUpTo = (maxElements: number): DeclaredType => ({ ...text, maxElements });
const domain = textUpTo(63);
const identifier = textUpTo(32);
const namesMax = 32;
/** An attribute: a bool, an int, a text or a version of at most 64 characters. */
const attribute = scalar(types.any, 64);

const device = struct('kubernetes.DRADevice', {
  driver: textUpTo(63),
  attributes: map(domain, map(identifier, attribute, namesMax), namesMax),
  capacity: map(domain, map(identifier, scalar(quantityType), namesMax), namesMax),
  allowMultipleAllocations: scalar(types.bool, 1),
});

const listValuesMax = 48;

/** `device.attributes['d'].models.includes('m')`, for an attribute that is a list or a single value. */
const includesLibrary: Library = {
  name: 'dra.includes',
  functions: [
    declare(
      'includes',
      member('dra_includes_dyn_dyn', [types.dyn, types.dyn], types.bool, (target, wanted) => {
        if (!isList(target)) return equal(target, wanted) === true;
        let count = 0;
        for (const element of elementsOf(target)) {
          if (count++ >= listValuesMax) {
            return new CelError(`'includes' function cannot be applied to lists longer than ${listValuesMax} values`);
          }
          if (equal(element, wanted) === true) return true;
        }
        return false;
      }),
    ),
  ],
  estimates: { dra_includes_dyn_dyn: () => ({ cost: { min: 0n, max: BigInt(listValuesMax) } }) },
};

/** The sizes that the types of a device declare; attributes have the same size under every name. */
const sizes: SizeEstimator = ({ path: [variable, ...path] }) => {
  if (variable !== 'device') return undefined;
  let at: DeclaredType | undefined = device;
  for (const name of path) {
    if (name === '@items' || name === '@values') at = at.elements;
    else if (name === '@keys') at = at.keys;
    else at = at.fields?.get(name) ?? (at.elements === attribute ? attribute : undefined);
    if (!at) return undefined;
  }
  return { ...fixed(at.maxElements), min: 0n };
};

const environments = new Map<ExpressionMode, Environment>();

function environment(mode: ExpressionMode): Environment {
  let known = environments.get(mode);
  if (!known) {
    // `includes` belongs to the alpha gate DRAListTypeAttributes, which is off.
    const libraries = mode === 'stored' ? [bindingsLibrary, includesLibrary] : [bindingsLibrary];
    environments.set(mode, (known = environmentOf(mode, { variables: { device }, libraries })));
  }
  return known;
}

/** Compiles a CEL selector of devices, with the estimate of its cost. */
export function compileDeviceSelector(expression: string, mode: ExpressionMode): Steps<CompiledExpression> {
  return compileExpression(
    environment(mode),
    expression,
    (type) =>
      type === types.bool || type === types.any
        ? undefined
        : `must evaluate to bool or the unknown type, not ${String(type)}`,
    { sizes },
  );
}
