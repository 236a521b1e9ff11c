import { ApiFailure, keyOf, type Api } from '../../scripts/simulation/api.js';
import { guarantees, type Guarantee } from '../../scripts/simulation/guarantees.js';
import { simulate, type SimulationOptions } from '../../scripts/simulation/simulation.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { KvStore } from '../../src/storage/kv-store.js';

/** One time in so many. */
function now(oneIn: number): () => boolean {
  let count = 0;
  return () => ++count % oneIn === 0;
}

type Hear = (type: string, object: KubeObject) => void;

/** Changes what each watch tells. */
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

/** Changes a server's words. */
const saying =
  (lie: (api: Api) => Partial<Api>) =>
  (api: Api): Api => ({ ...api, name: api.name, ...lie(api) });

const isChange = (type: string) => type !== 'BOOKMARK' && type !== 'ERROR';
const due = now(9);

/** Each server lies in one way; what the lie breaks must be reported by its name. */
const lies: Record<Guarantee, Pick<SimulationOptions, 'wrapApi' | 'wrapStore'>> = {
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
    wrapApi: saying((api) => ({
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
    wrapApi: saying((api) => ({
      list: async (...words) => {
        const page = await api.list(...words);
        return due() ? { ...page, items: page.items.slice(1) } : page;
      },
    })),
  },
  'read-your-write': {
    wrapApi: saying((api) => {
      const first = new Map<string, KubeObject>();
      return {
        get: async (place, query, call) => {
          const known = first.get(keyOf(place)) ?? (await api.get(place, query, call));
          first.set(keyOf(place), known);
          return known;
        },
      };
    }),
  },
  'no-lost-acknowledged-write': {
    wrapApi: saying((api) => ({
      create: (place, object, call) => api.create(place, object, { ...call, dryRun: true }),
    })),
  },
  'no-lost-update': {
    wrapApi: saying((api) => ({
      update: async (place, object, call) => {
        // Somebody was faster, and is overwritten all the same.
        const { metadata } = await api.patch(place, 'merge', { metadata: { labels: { color: 'white' } } });
        return api.update(place, { ...object, metadata: { ...object.metadata, ...metadata } }, call);
      },
    })),
  },
  'refused-is-not-made': {
    wrapApi: saying((api) => ({
      update: async (...words) => {
        await api.update(...words);
        throw new ApiFailure(409, 'Conflict', 'not at all');
      },
    })),
  },
  'cache-is-store': { wrapStore: dropsEvents },
  'no-surprise': {
    wrapApi: saying((api) => ({
      patch: (...words) => {
        if (due()) throw new ApiFailure(500, 'InternalError', 'oops');
        return api.patch(...words);
      },
    })),
  },
};

/** A store whose watch forgets one event in so many. */
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

describe('a server that lies is found out, by the name of what it breaks', () => {
  it.each(Object.keys(guarantees) as Guarantee[])('%s', async (name) => {
    const { violations } = await simulate({ seed: 8, simulatedMs: 3_000, clients: 6, faults: 'none', ...lies[name] });
    expect(violations.map(({ guarantee }) => guarantee)).toContain(name);
  });
});
