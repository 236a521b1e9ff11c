import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { Rng } from '../../src/std/rng.js';

/** A selection as the query of a list or watch, and as a predicate. */
export interface Selection {
  readonly resource: Resource;
  /** '' for all namespaces. */
  readonly namespace: string;
  readonly query: Readonly<Record<string, string>>;
  /** Encoding of its watches. */
  readonly encoding: 'json' | 'protobuf';
  selects(key: string, object: KubeObject): boolean;
}

export type Resource = 'configmaps' | 'pods';
export const resources: readonly Resource[] = ['configmaps', 'pods'];
export const namespaces = ['sim', 'sim-2'];
export const names = ['a', 'b', 'c', 'c-2', 'd', 'e'];
export const colors = ['red', 'green', 'blue'];
export const nodes = ['', 'n1', 'n2'];
export const phases = ['Pending', 'Running', 'Succeeded'];

export const pick = <T>(rng: Rng, items: readonly T[]): T => items[rng.below(items.length)]!;

interface Criterion {
  readonly query: Readonly<Record<string, string>>;
  selects(object: KubeObject): boolean;
}

const everything: Criterion = { query: {}, selects: () => true };

function byLabel(rng: Rng): Criterion {
  const [color, other] = [pick(rng, colors), pick(rng, colors)];
  const of = (object: KubeObject) => object.metadata.labels?.['color'];
  return pick<Criterion>(rng, [
    { query: { labelSelector: `color=${color}` }, selects: (object) => of(object) === color },
    { query: { labelSelector: `color!=${color}` }, selects: (object) => of(object) !== color },
    {
      query: { labelSelector: `color in (${color},${other})` },
      selects: (object) => of(object) === color || of(object) === other,
    },
    { query: { labelSelector: '!color' }, selects: (object) => of(object) === undefined },
    {
      query: { labelSelector: `color,color notin (${color})` },
      selects: (object) => of(object) !== undefined && of(object) !== color,
    },
  ]);
}

function byField(rng: Rng, resource: Resource): Criterion {
  const name = pick(rng, names);
  const byName = [
    {
      query: { fieldSelector: `metadata.name=${name}` },
      selects: ({ metadata }: KubeObject) => metadata.name === name,
    },
    {
      query: { fieldSelector: `metadata.name!=${name}` },
      selects: ({ metadata }: KubeObject) => metadata.name !== name,
    },
  ];
  if (resource !== 'pods') return pick<Criterion>(rng, byName);
  const [node, phase] = [pick(rng, nodes), pick(rng, phases)];
  const nodeOf = ({ spec }: KubeObject) => (spec as { nodeName?: string } | undefined)?.nodeName ?? '';
  const phaseOf = ({ status }: KubeObject) => (status as { phase?: string } | undefined)?.phase ?? '';
  return pick<Criterion>(rng, [
    ...byName,
    { query: { fieldSelector: `spec.nodeName=${node}` }, selects: (object) => nodeOf(object) === node },
    { query: { fieldSelector: `status.phase=${phase}` }, selects: (object) => phaseOf(object) === phase },
    {
      query: { fieldSelector: `spec.nodeName=${node},status.phase!=${phase}` },
      selects: (object) => nodeOf(object) === node && phaseOf(object) !== phase,
    },
  ]);
}

/** FNV as its definition spells it, implemented independently of the server's. */
function hashOf(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}

function byShard(rng: Rng): Criterion {
  const field = pick(rng, ['uid', 'uid', 'namespace'] as const);
  const cuts = Array.from({ length: 2 + 2 * rng.below(2) }, () => BigInt(rng.below(17)) << 60n).sort((a, b) =>
    a < b ? -1 : 1,
  );
  const ranges = cuts.flatMap((end, index) => {
    const start = cuts[index - 1];
    return index % 2 === 1 && start! < end ? [{ start: start!, end }] : [];
  });
  if (ranges.length === 0) return everything;
  const text = (bound: bigint) => `'0x${bound.toString(16).padStart(16, '0')}'`;
  const calls = ranges.map(({ start, end }) => `shardRange(object.metadata.${field}, ${text(start)}, ${text(end)})`);
  return {
    query: { shardSelector: calls.join(' || ') },
    selects({ metadata }) {
      const hash = hashOf(metadata[field] ?? '');
      return ranges.some(({ start, end }) => start <= hash && hash < end);
    },
  };
}

export function randomSelection(rng: Rng): Selection {
  const resource = pick(rng, resources);
  const namespace = pick(rng, ['', ...namespaces]);
  const labels = rng.below(2) === 0 ? byLabel(rng) : everything;
  const fields = rng.below(3) === 0 ? byField(rng, resource) : everything;
  const shard = rng.below(4) === 0 ? byShard(rng) : everything;
  const scope = namespace === '' ? `${resource}/` : `${resource}/${namespace}/`;
  return {
    resource,
    namespace,
    query: { ...labels.query, ...fields.query, ...shard.query },
    encoding: pick(rng, ['json', 'protobuf'] as const),
    selects: (key, object) =>
      key.startsWith(scope) && labels.selects(object) && fields.selects(object) && shard.selects(object),
  };
}
