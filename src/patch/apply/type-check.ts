import { goPrint, goTypeName } from '../go-print.js';
import { elementText, fieldElement, itemElement, UntypedItem, type PathElement } from './path-element.js';
import { formOf, type ListSchema, type MapSchema, type ScalarKind, type Schema } from './schema.js';

/** An error of a configuration against its type. */
export interface TypeProblem {
  /** `.spec.containers[name="c"].image` */
  readonly path: string;
  readonly detail: string;
  readonly kind: 'unknownField' | 'wrongType' | 'duplicate';
}

/** Limit on the errors in the message. */
const problemsMax = 64;

/** Returns the errors of a configuration against its type: unknown fields, wrong types, duplicate items. */
export function typeProblems(schema: Schema, value: unknown): TypeProblem[] {
  const problems: TypeProblem[] = [];
  check(schema, value, '', problems);
  return problems;
}

function check(schema: Schema, value: unknown, path: string, problems: TypeProblem[]): void {
  if (problems.length >= problemsMax || value === undefined || value === null) return;
  switch (formOf(schema, value)) {
    case 'map':
      return checkMap(schema.map!, value, path, problems);
    case 'list':
      return checkList(schema.list!, value, path, problems);
    case 'scalar':
      return checkScalar(schema.scalar!, value, path, problems);
  }
}

function checkMap(map: MapSchema, value: unknown, path: string, problems: TypeProblem[]): void {
  if (typeof value !== 'object' || Array.isArray(value)) {
    problems.push({ path, detail: `expected map, got &{${goPrint(value)}}`, kind: 'wrongType' });
    return;
  }
  for (const [name, part] of Object.entries(value as Record<string, unknown>)) {
    if (problems.length >= problemsMax) return;
    const schema = map.fields.get(name)?.schema ?? map.values;
    if (schema) check(schema, part, `${path}.${name}`, problems);
    else
      problems.push({
        path: path + elementText(fieldElement(name)),
        detail: 'field not declared in schema',
        kind: 'unknownField',
      });
  }
}

function checkList(list: ListSchema, value: unknown, path: string, problems: TypeProblem[]): void {
  if (!Array.isArray(value)) {
    problems.push({ path, detail: `expected list, got &{${goPrint(value)}}`, kind: 'wrongType' });
    return;
  }
  const seen = new Set<PathElement>();
  for (const [index, item] of (value as unknown[]).entries()) {
    if (problems.length >= problemsMax) return;
    const element = list.kind === 'atomic' ? `i:${index}` : elementOf(list, item, index, path, problems);
    if (element === undefined) return;
    if (seen.has(element)) {
      problems.push({ path, detail: `duplicate entries for key ${elementText(element)}`, kind: 'duplicate' });
    }
    seen.add(element);
    check(list.of, item, path + elementText(element), problems);
  }
}

function elementOf(
  list: ListSchema,
  item: unknown,
  index: number,
  path: string,
  problems: TypeProblem[],
): PathElement | undefined {
  try {
    return itemElement(list, item);
  } catch (error) {
    if (!(error instanceof UntypedItem)) throw error;
    problems.push({ path, detail: `element ${index}: ${error.message}`, kind: 'wrongType' });
    return undefined;
  }
}

const scalarNames: Readonly<Record<ScalarKind, string>> = {
  string: 'string',
  numeric: 'numeric (int or float)',
  boolean: 'boolean',
  untyped: 'any scalar',
};

function checkScalar(kind: ScalarKind, value: unknown, path: string, problems: TypeProblem[]): void {
  if (isOf(kind, value)) return;
  const shown = kind === 'numeric' ? goTypeName(value) : `&{${goPrint(value)}}`;
  problems.push({ path, detail: `expected ${scalarNames[kind]}, got ${shown}`, kind: 'wrongType' });
}

function isOf(kind: ScalarKind, value: unknown): boolean {
  if (typeof value === 'object') return false;
  if (kind === 'untyped') return true;
  if (kind === 'numeric') return typeof value === 'number' || typeof value === 'bigint';
  return typeof value === kind;
}
