import { stringifyJson } from '../codec/json.js';
import { asNumber, asText, type Fields } from '../machinery/fields.js';
import { parseJsonPath, type JsonPath } from '../machinery/json-path.js';
import type { JsonValue } from '../machinery/kube-object.js';
import { scalarText } from '../machinery/json-path-text.js';
import {
  ageCell,
  nameColumn,
  type TableCell,
  type TableColumn,
  type TableDefinition,
} from '../registry/definition/table.js';
import { canonicalTime } from '../typed/go-time.js';
import { inOrder } from '../structural-schema/list-keys.js';

const age: Fields = {
  name: 'Age',
  type: 'date',
  description: 'Time at which the object was created. Set by the server and immutable.',
  jsonPath: '.metadata.creationTimestamp',
};

interface Column {
  readonly header: TableColumn;
  readonly path: JsonPath;
}

/** The Name column, then `additionalPrinterColumns` of the version, or Age if there are none. */
export function customTable(columns: readonly Fields[] | undefined): TableDefinition {
  const own = columnsOf(columns?.length ? columns : [age]);
  return {
    columns: [nameColumn, ...own.map(({ header }) => header)],
    cells: (object, { nowMs }) => [
      object.metadata.name ?? '',
      ...own.map(({ header, path }) => cellOf(header.type, path.find(object), nowMs)),
    ],
  };
}

/** The table of the scale subresource, whatever columns the custom resource itself has. */
export const customScaleTable = customTable([
  { name: 'Desired', type: 'integer', description: 'The number of desired replicas.', jsonPath: '.spec.replicas' },
  {
    name: 'Available',
    type: 'integer',
    description: 'The number of available replicas.',
    jsonPath: '.status.replicas',
  },
  age,
]);

/** The columns before the first one whose JSON path cannot be parsed: definitions with such paths are accepted. */
function columnsOf(given: readonly Fields[]): Column[] {
  const columns: Column[] = [];
  for (const column of given) {
    const jsonPath = asText(column['jsonPath']);
    const path = parseJsonPath(jsonPath);
    if (!path) break;
    columns.push({ header: headerOf(column, jsonPath), path });
  }
  return columns;
}

function headerOf(column: Fields, jsonPath: string): TableColumn {
  const format = asText(column['format']);
  const priority = asNumber(column['priority']);
  return {
    name: asText(column['name']),
    type: asText(column['type']) as TableColumn['type'],
    description: asText(column['description']) || `Value at ${jsonPath}.`,
    ...(format !== '' && { format }),
    ...(priority !== 0 && { priority }),
  };
}

/** Returns the cell of the first value found; null if there is none, or if its type is not the column's. */
function cellOf(type: TableColumn['type'], found: readonly unknown[], nowMs: number): TableCell {
  if (found.length === 0) return null;
  const value = found[0];
  switch (type) {
    case 'string':
      return textCell(value);
    case 'integer':
      if (typeof value === 'number') return Math.trunc(value);
      return typeof value === 'bigint' ? value : null;
    case 'number':
      return typeof value === 'bigint' ? Number(value) : typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? dateCell(value, nowMs) : null;
    default:
      return null;
  }
}

function textCell(value: unknown): string {
  if (value === null || value === undefined) return '<no value>';
  if (typeof value === 'object') return goJson(value);
  return scalarText(value as string | number | bigint | boolean);
}

/** Encodes JSON as Go does: sorted keys, and `<`, `>` and `&` escaped for HTML. */
function goJson(value: unknown): string {
  return stringifyJson(inOrder(value as JsonValue)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function dateCell(text: string, nowMs: number): string {
  if (text === '') return ageCell(undefined, nowMs);
  try {
    return ageCell(canonicalTime(text), nowMs);
  } catch {
    return '<invalid>';
  }
}
