import { ApiFailure, keyOf, type Api } from '../../scripts/simulation/api.js';
import { guarantees, type Guarantee } from '../../scripts/simulation/guarantees.js';
import { simulate, type SimulationOptions } from '../../scripts/simulation/simulation.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { KvStore } from '../../src/storage/kv-store.js';

/** Returns true on every `oneIn`-th call. */
function now(oneIn: number): () => boolean {
  let count = 0;
  return () => ++count % oneIn === 0;
}

type Hear = (type: string, object: KubeObject) => void;

/** Wraps an API whose watches send changed events. */
const watching =
  (between: (hear: Hear) => Hear) =>
  (api: Api): Api => ({
    ...api,
    name: api.name,
    watch: (selection, query, listener, pace) => {
      const event = between((type, object) => listener.event(type, object));
      return api.watch(selection, query, { event, ended: () => listener.ended() }, pace);
    },
  });

/** Wraps an API with changed responses. */
const responding =
  (changed: (api: Api) => Partial<Api>) =>
  (api: Api): Api => ({ ...api, name: api.name, ...changed(api) });

const isChange = (type: string) => type !== 'BOOKMARK' && type !== 'ERROR';
const due = now(9);

/** For each guarantee a server that violates it in one way, which the checks must report. */
const violators: Record<Guarantee, Pick<SimulationOptions, 'wrapApi' | 'wrapStore'>> = {
  ordered: {
    wrapApi: watching((hear) => {
      let late: (() => void) | undefined;
      return (type, object) => {
        if (isChange(type) && !late && due()) {
          late = () => hear(type, object);
          return;
        }
        hear(type, object);
        late?.();
        late = undefined;
      };
    }),
  },
  unique: {
    wrapApi: watching((hear) => (type, object) => {
      hear(type, object);
      if (isChange(type) && due()) hear(type, object);
    }),
  },
  reliable: {
    wrapApi: watching((hear) => (type, object) => (isChange(type) && due() ? undefined : hear(type, object))),
  },
  faithful: {
    wrapApi: watching(
      (hear) => (type, object) =>
        hear(type, isChange(type) && due() ? { ...object, data: { other: 'value' } } : object),
    ),
  },
  filtered: {
    wrapApi: watching((hear) => (type, object) => hear(type === 'MODIFIED' && due() ? 'ADDED' : type, object)),
  },
  resumable: {
    wrapApi: responding((api) => ({
      watch: (selection, query, ...rest) => {
        const from = query['resourceVersion'];
        const later = from === undefined || from === '0' ? {} : { resourceVersion: String(Number(from) + 20) };
        return api.watch(selection, { ...query, ...later }, ...rest);
      },
    })),
  },
  bookmarkable: {
    wrapApi: watching((hear) => (type, object) => {
      if (type !== 'BOOKMARK' || object.metadata.annotations) return hear(type, object);
      const resourceVersion = String(Number(object.metadata.resourceVersion) + 30);
      hear(type, { ...object, metadata: { resourceVersion } });
    }),
  },
  'consistent-list': {
    wrapApi: responding((api) => ({
      list: async (...args) => {
        const page = await api.list(...args);
        return due() ? { ...page, items: page.items.slice(1) } : page;
      },
    })),
  },
  'read-your-write': {
    wrapApi: responding((api) => {
      const first = new Map<string, KubeObject>();
      return {
        get: async (ref, query, call) => {
          const known = first.get(keyOf(ref)) ?? (await api.get(ref, query, call));
          first.set(keyOf(ref), known);
          return known;
        },
      };
    }),
  },
  'no-lost-acknowledged-write': {
    wrapApi: responding((api) => ({
      create: (ref, object, call) => api.create(ref, object, { ...call, dryRun: true }),
    })),
  },
  'no-lost-update': {
    wrapApi: responding((api) => ({
      update: async (ref, object, call) => {
        // A concurrent write is overwritten without a conflict.
        const { metadata } = await api.patch(ref, 'merge', { metadata: { labels: { color: 'white' } } });
        return api.update(ref, { ...object, metadata: { ...object.metadata, ...metadata } }, call);
      },
    })),
  },
  'refused-is-not-made': {
    wrapApi: responding((api) => ({
      update: async (...args) => {
        await api.update(...args);
        throw new ApiFailure(409, 'Conflict', 'not at all');
      },
    })),
  },
  'cache-is-store': { wrapStore: dropsEvents },
  'no-surprise': {
    wrapApi: responding((api) => ({
      patch: (...args) => {
        if (due()) throw new ApiFailure(500, 'InternalError', 'oops');
        return api.patch(...args);
      },
    })),
  },
};

/** A store whose watch drops one event in 40. */
function dropsEvents(store: KvStore): KvStore {
  const isDropped = now(40);
  return {
    get: store.get.bind(store),
    range: store.range.bind(store),
    txn: store.txn.bind(store),
    revision: store.revision.bind(store),
    compact: store.compact.bind(store),
    close: store.close.bind(store),
    watch: (prefix, options, sink) =>
      store.watch(prefix, options, {
        events: (events, revision) => sink.events(isDropped() ? events.slice(1) : events, revision),
        progress: (revision) => sink.progress(revision),
        ended: (error) => sink.ended(error),
      }),
  };
}

describe('a violated guarantee is reported by its name', () => {
  it.each(Object.keys(guarantees) as Guarantee[])('%s', async (name) => {
    const { violations } = await simulate({
      seed: 8,
      simulatedMs: 3_000,
      clients: 6,
      faults: 'none',
      ...violators[name],
    });
    expect(violations.map(({ guarantee }) => guarantee)).toContain(name);
  });
});
