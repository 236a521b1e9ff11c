import { decodeJson, stringifyJson } from '../codec/json.js';
import { ClientError } from '../kubeconfig-client/client-error.js';
import type { KubeconfigClient, KubeList } from '../kubeconfig-client/kubeconfig-client.js';
import { asFields, asItems, asText, type Fields } from '../machinery/fields.js';
import { printable } from '../std/printable.js';
import { selectorOf } from './object-paths.js';

/** Objects at a past resourceVersion. */
interface PastQuery {
  readonly collection: string;
  readonly resourceVersion: string;
  /** A single object. */
  readonly name?: string;
  readonly labelSelector?: string;
}

const pageSize = 500;
const asTable = 'application/json;as=Table;g=meta.k8s.io;v=v1';

const queryOf = ({ name, labelSelector, resourceVersion }: PastQuery) => ({
  resourceVersion,
  resourceVersionMatch: 'Exact',
  ...(name !== undefined && { fieldSelector: selectorOf(name) }),
  ...(labelSelector !== undefined && { labelSelector }),
});

/** Lists the objects as they were, page by page. */
export async function* pastObjects(client: KubeconfigClient, query: PastQuery): AsyncGenerator<Fields> {
  let position: Record<string, string> = queryOf(query);
  for (;;) {
    const list: KubeList<Fields> = await client.list<Fields>(query.collection, {
      query: { ...position, limit: pageSize },
    });
    const kind = list.kind.replace(/List$/, '');
    for (const item of list.items) yield { apiVersion: list.apiVersion, kind, ...item };
    const next = list.metadata.continue ?? '';
    if (next === '') return;
    const { resourceVersion: _version, resourceVersionMatch: _match, ...selectors } = queryOf(query);
    position = { ...selectors, continue: next };
  }
}

/** Returns the Table that the server prints for the objects as they were, in columns. Empty without objects. */
export async function pastTable(client: KubeconfigClient, query: PastQuery, withNamespace: boolean): Promise<string> {
  const answer = await client.request({
    method: 'GET',
    path: query.collection,
    query: queryOf(query),
    headers: { accept: asTable },
  });
  const table = asFields(decodeJson(answer.body));
  if (answer.status !== 200 || table['kind'] !== 'Table') {
    throw new ClientError('Status', asText(table['message']) || 'the server does not print tables', {
      status: answer.status,
    });
  }
  const shown = asItems(table['columnDefinitions']).flatMap((column, index) =>
    column['priority'] === 0 || column['priority'] === undefined ? [{ index, title: asText(column['name']) }] : [],
  );
  const rows = asItems(table['rows']).map((row) => {
    const cells = Array.isArray(row['cells']) ? (row['cells'] as unknown[]) : [];
    const namespace = asText(asFields(asFields(row['object'])['metadata'])['namespace']);
    return [...(withNamespace ? [namespace] : []), ...shown.map(({ index }) => cellText(cells[index]))];
  });
  if (rows.length === 0) return '';
  const titles = [...(withNamespace ? ['namespace'] : []), ...shown.map(({ title }) => title)];
  return inColumns([titles.map((title) => title.toUpperCase()), ...rows]);
}

function cellText(value: unknown): string {
  return printable(typeof value === 'string' ? value : stringifyJson(value)) || '<none>';
}

function inColumns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => rows.reduce((width, row) => Math.max(width, row[column]!.length), 0));
  return rows
    .map(
      (row) =>
        `${row
          .map((text, column) => text.padEnd(widths[column]!))
          .join('   ')
          .trimEnd()}\n`,
    )
    .join('');
}
