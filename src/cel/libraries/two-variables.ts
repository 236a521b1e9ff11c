import { declare, overload } from '../check/declarations.js';
import type { Expr } from '../syntax/ast.js';
import { accumulatorName, legacyAccumulatorName } from '../syntax/ast.js';
import type { Macro, MacroFactory, Variables } from '../syntax/macros.js';
import { MacroError, quantifiers } from '../syntax/macros.js';
import { mapOf, typeParam } from '../types.js';
import { insertEntry } from '../values/maps.js';
import type { MapValue, Value } from '../values/value.js';
import { CelError } from '../values/value.js';
import type { Library } from './library.js';

/** Macros over index and element, or key and value: `list.all(i, x, …)`, `map.transformMap(k, v, …)`. */
const [k, v] = [typeParam('K'), typeParam('V')];
const map = mapOf(k, v);

function variablesOf(first: Expr, second: Expr): Variables {
  for (const arg of [first, second])
    if (arg.kind !== 'ident') throw new MacroError(arg.id, 'argument must be a simple name');
  const names = [first, second].map((arg) => (arg.kind === 'ident' ? arg.name : ''));
  if (names[0] === names[1]) throw new MacroError(second.id, `duplicate variable name: ${names[0]}`);
  for (const arg of [first, second]) {
    if (arg.kind === 'ident' && (arg.name === accumulatorName || arg.name === legacyAccumulatorName))
      throw new MacroError(arg.id, 'iteration variable overwrites accumulator variable');
  }
  return [names[0]!, names[1]!];
}

function quantifier(name: string, kind: 'all' | 'exists' | 'existsOne'): Macro {
  return {
    name,
    argCount: 3,
    isMember: true,
    expand: (factory, range, args) => quantifiers[kind](factory, range, variablesOf(args[0]!, args[1]!), args[2]!),
  };
}

type Transform = (factory: MacroFactory, range: Expr, variables: Variables, transform: Expr, filter?: Expr) => Expr;
/** The macro with and without a filter before its last argument. */
function transformation(name: string, transform: Transform): Macro[] {
  return [3, 4].map((argCount) => ({
    name,
    argCount,
    isMember: true,
    expand: (factory, range, args) => {
      const filter = argCount === 4 ? args[2] : undefined;
      return transform(factory, range, variablesOf(args[0]!, args[1]!), args[argCount - 1]!, filter);
    },
  }));
}

const intoMap =
  (insert: (factory: MacroFactory, variables: Variables, transform: Expr) => Expr): Transform =>
  (factory, range, variables, transform, filter) => {
    const inserted = insert(factory, variables, transform);
    const step = filter ? factory.call('_?_:_', filter, inserted, factory.accu()) : inserted;
    return factory.loop(range, variables, { init: factory.map(), condition: factory.literal(true), step });
  };

function insertAll(target: MapValue, entries: MapValue): Value {
  let result = target;
  for (const key of entries.keys()) {
    const inserted = insertEntry(result, key, entries.find(key)!);
    if (inserted instanceof CelError) return inserted;
    result = inserted;
  }
  return result;
}

export const twoVariableLibrary: Library = {
  name: 'cel.lib.ext.comprev2',
  macros: [
    quantifier('all', 'all'),
    quantifier('exists', 'exists'),
    quantifier('existsOne', 'existsOne'),
    quantifier('exists_one', 'existsOne'),
    ...transformation('transformList', (factory, range, variables, transform, filter) =>
      quantifiers.list(factory, range, variables, transform, filter),
    ),
    ...transformation(
      'transformMap',
      intoMap((factory, variables, transform) =>
        factory.call('cel.@mapInsert', factory.accu(), factory.ident(variables[0]), transform),
      ),
    ),
    ...transformation(
      'transformMapEntry',
      intoMap((factory, _, transform) => factory.call('cel.@mapInsert', factory.accu(), transform)),
    ),
  ],
  functions: [
    declare(
      'cel.@mapInsert',
      overload('@mapInsert_map_key_value', [map, k, v], map, (target, key, value) =>
        insertEntry(target as MapValue, key, value),
      ),
      overload('@mapInsert_map_map', [map, map], map, (target, entries) =>
        insertAll(target as MapValue, entries as MapValue),
      ),
    ),
  ],
};
