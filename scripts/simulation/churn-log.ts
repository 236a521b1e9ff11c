import type { Rng } from '../../src/std/rng.js';

/** Current state of a key, which selectors of watches match. */
interface KeyState {
  readonly namespace: string;
  readonly name: string;
  color: string | undefined;
  isThere: boolean;
}

const changeTypes = ['ADDED', 'MODIFIED', 'DELETED'] as const;
export type ChangeType = (typeof changeTypes)[number];

/** Selection of a watch, as a query and as a predicate on keys. */
export interface ChurnSelection {
  readonly namespace: string;
  readonly query: string;
  selects(key: KeyState, color: string | undefined): boolean;
  /** Codes of the events that its watches must receive, in order. */
  readonly due: number[];
}

const keysMax = 2 ** 12;
const typesMax = 4;

/** Encodes revision, key and type as one number: millions of events are kept and compared. */
export const codeOf = (revision: number, key: number, type: ChangeType): number =>
  (revision * keysMax + key) * typesMax + changeTypes.indexOf(type);

export const revisionOfCode = (code: number): number => Math.floor(code / (keysMax * typesMax));

export function describeCode(code: number): string {
  const type = changeTypes[code % typesMax]!;
  return `${type} of key ${Math.floor(code / typesMax) % keysMax} at ${revisionOfCode(code)}`;
}

const colors = ['red', 'green', 'blue'];

function selections(namespaces: readonly string[]): ChurnSelection[] {
  const of = (namespace: string, query: string, selects: ChurnSelection['selects']): ChurnSelection => ({
    ...{ namespace, query, due: [] },
    selects: (key, color) => (namespace === '' || key.namespace === namespace) && selects(key, color),
  });
  const all = () => true;
  return [
    of('', '', all),
    ...namespaces.map((namespace) => of(namespace, '', all)),
    ...colors.map((wanted) => of('', `labelSelector=color%3D${wanted}`, (_key, color) => color === wanted)),
    of('', 'labelSelector=!color', (_key, color) => color === undefined),
    of('', 'labelSelector=color+notin+(red)', (_key, color) => color !== 'red'),
    of(namespaces[0]!, 'labelSelector=color+in+(red,blue)', (_key, color) => color === 'red' || color === 'blue'),
    of(namespaces[1]!, 'fieldSelector=metadata.name%3Dk-1', ({ name }) => name === 'k-1'),
    of('', 'fieldSelector=metadata.name!%3Dk-2', ({ name }) => name !== 'k-2'),
  ];
}

/** Expected events of each selection, one number per event, so that millions fit in memory. */
export class ChurnLog {
  readonly keys: readonly KeyState[];
  readonly selections: readonly ChurnSelection[];
  private readonly indexes = new Map<string, number>();
  head = 0;

  constructor(namespaces: readonly string[], keysPerNamespace: number) {
    this.keys = namespaces.flatMap((namespace) =>
      Array.from({ length: keysPerNamespace }, (_, n) => ({
        ...{ namespace, name: `k-${n}`, color: undefined, isThere: false },
      })),
    );
    this.keys.forEach(({ namespace, name }, index) => this.indexes.set(`${namespace}/${name}`, index));
    this.selections = selections(namespaces);
  }

  indexOf(namespace: string, name: string): number | undefined {
    return this.indexes.get(`${namespace}/${name}`);
  }

  /** Returns the next operation on a random key; call record() after it. */
  next(rng: Rng): { key: KeyState; color: string | undefined; isDeletion: boolean } {
    const key = this.keys[rng.below(this.keys.length)]!;
    const isDeletion = key.isThere && rng.below(8) === 0;
    const color = rng.below(4) === 0 ? undefined : colors[rng.below(colors.length)];
    return { key, color, isDeletion };
  }

  record(key: KeyState, revision: number, color: string | undefined, isDeletion: boolean): void {
    const index = this.indexOf(key.namespace, key.name)!;
    for (const { selects, due } of this.selections) {
      const did = key.isThere && selects(key, key.color);
      const does = !isDeletion && selects(key, color);
      if (does) due.push(codeOf(revision, index, did ? 'MODIFIED' : 'ADDED'));
      else if (did) due.push(codeOf(revision, index, 'DELETED'));
    }
    key.isThere = !isDeletion;
    key.color = color;
    this.head = revision;
  }
}
