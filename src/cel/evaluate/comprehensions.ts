import type { ComprehensionExpr, Expr } from '../syntax/ast.js';
import { AccumulatorList, isList, listAt, listSize } from '../values/lists.js';
import { BuiltMap, isMap } from '../values/maps.js';
import { isInt } from '../values/numbers.js';
import type { Value } from '../values/value.js';
import { CelError, Double, OpaqueValue, Optional, Uint, typeOf } from '../values/value.js';
import type { Evaluate, Frame } from './frame.js';

/** Compiles the expressions inside a loop. */
interface LoopPlanner {
  plan(expr: Expr): { readonly evaluate: Evaluate };
  newSlot(): number;
  withLocal<T>(name: string, load: Evaluate, plan: () => T): T;
}

/** Compiles a loop. The accumulator gets its first value when it is read, and may never be. */
export function comprehension(planner: LoopPlanner, expr: ComprehensionExpr): Evaluate {
  const init = planner.plan(expr.init).evaluate;
  const range = planner.plan(expr.range).evaluate;
  const [accuSlot, slot, slot2] = [planner.newSlot(), planner.newSlot(), planner.newSlot()];
  const loadAccu: Evaluate = (frame) => {
    const known = frame.slots[accuSlot];
    return known !== undefined ? known : (frame.slots[accuSlot] = opened(init(frame)));
  };
  const [condition, step] = planner.withLocal(expr.accu, loadAccu, () =>
    planner.withLocal(expr.variable, loadSlot(slot), () => {
      const inLoop = () => [planner.plan(expr.condition).evaluate, planner.plan(expr.step).evaluate] as const;
      return expr.variable2 === undefined ? inLoop() : planner.withLocal(expr.variable2, loadSlot(slot2), inLoop);
    }),
  );
  const result = planner.withLocal(expr.accu, loadAccu, () => planner.plan(expr.result).evaluate);
  const hasTwo = expr.variable2 !== undefined;

  const next = (frame: Frame, first: Value, second: Value | undefined): boolean => {
    frame.slots[slot] = first;
    frame.slots[slot2] = second;
    if (condition(frame) === false) return false;
    frame.slots[accuSlot] = step(frame);
    return true;
  };
  return (frame) => {
    const over = range(frame);
    if (over instanceof CelError) return over;
    frame.slots[accuSlot] = undefined;
    if (isList(over)) {
      const size = listSize(over);
      for (let index = 0; index < size; index++) {
        const element = listAt(over, index);
        if (!next(frame, hasTwo ? index : element, hasTwo ? element : undefined)) break;
      }
    } else if (isMap(over)) {
      for (const key of over.keys()) if (!next(frame, key, hasTwo ? over.find(key)! : undefined)) break;
    } else {
      return notIterable(over, hasTwo);
    }
    return closed(result(frame));
  };
}

const loadSlot =
  (slot: number): Evaluate =>
  (frame) =>
    frame.slots[slot]!;

/** An empty list or map, which the loop may fill in place; other values as they are. */
function opened(value: Value): Value {
  if (isList(value) && listSize(value) === 0) return new AccumulatorList();
  if (!isMap(value) || value.size > 0) return value;
  const map = new BuiltMap();
  map.isOpen = true;
  return map;
}

function closed(value: Value): Value {
  if (value instanceof AccumulatorList) value.isOpen = false;
  else if (value instanceof BuiltMap) value.isOpen = false;
  return value;
}

/** The error for what has no elements, with the reference's name of its type. */
function notIterable(value: Value, hasTwo: boolean): CelError {
  const name = implementationName(value);
  return new CelError(
    hasTwo ? `unsupported comprehension range type: ${name}` : `got '${name}', expected iterable type`,
  );
}
function implementationName(value: Value): string {
  if (isInt(value)) return 'types.Int';
  if (value instanceof Double) return 'types.Double';
  if (value instanceof Uint) return 'types.Uint';
  if (value instanceof Uint8Array) return 'types.Bytes';
  if (value instanceof Optional) return '*types.Optional';
  if (value === null) return 'types.Null';
  if (value instanceof OpaqueValue) return value.type.name;
  const { kind } = typeOf(value);
  return kind === 'type' ? '*types.Type' : `types.${kind[0]!.toUpperCase()}${kind.slice(1)}`;
}
