import type { Subscribe } from '../../cache/watch-request.js';
import type { Rendering } from '../../cache/encoded-object.js';
import { revisionOption } from '../../machinery/option-parameters.js';
import type { ListOptions } from '../../machinery/list-options.js';
import type { Caller } from '../../cache/feed.js';
import { readFresh } from './freshness.js';
import { matcher, undecryptableError } from './list.js';
import { UntransformableError } from '../../storage/value-transforms.js';
import type { ResourceStore } from '../resource-store.js';

interface WatchQuery {
  readonly namespace: string;
  readonly options: ListOptions;
  readonly rendering: Rendering;
  readonly caller?: Caller | undefined;
}

/**
 * Decides where a watch starts and waits until the cache can serve it. Returns a function that begins the watch, so
 * that the caller sends its response headers first.
 */
export async function watchObjects(store: ResourceStore, query: WatchQuery): Promise<Subscribe> {
  const { options } = query;
  const { resourceVersion } = options;
  const fromStart =
    options.sendInitialEvents ?? (resourceVersion === undefined || resourceVersion === '' || resourceVersion === '0');
  const isVersion = resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== '0';
  // Parsed first, so that an invalid resourceVersion rejects the watch before headers are sent.
  const after = !fromStart && isVersion ? revisionOption(resourceVersion) : undefined;
  if (fromStart) await readFresh(store.dependencies, store.cache, resourceVersion, query.caller);
  else await readFresh(store.dependencies, store.cache, '0', query.caller);

  const name = options.fields.requiresExact('metadata.name');
  const namespace =
    query.namespace || (store.definition.namespaced ? (options.fields.requiresExact('metadata.namespace') ?? '') : '');
  const scope = store.scopeOf(namespace);
  const oneKey = name !== undefined && (namespace !== '' || !store.definition.namespaced);
  if (fromStart && resourceVersion !== '0') checkDecryptable(store, oneKey ? store.keyOf(namespace, name) : scope);
  return (sink) =>
    store.cache.subscribe(
      {
        scope: oneKey ? store.keyOf(namespace, name) : scope,
        exactKey: oneKey,
        start: fromStart ? { kind: 'initial' } : { kind: 'after', revision: after ?? store.dependencies.feed.position },
        matches: matcher(options),
        equalities: options.fields.equalities,
        rendering: query.rendering,
        bookmarks: options.allowWatchBookmarks,
        initialEventsEnd: options.sendInitialEvents === true && options.allowWatchBookmarks,
      },
      sink,
    );
}

/** Rejects a watch whose initial events would leave out an object that cannot be decrypted, as a list does. */
function checkDecryptable({ cache }: ResourceStore, scope: string): void {
  for (const key of cache.unreadableKeys) {
    const object = key.startsWith(scope) ? cache.get(key) : undefined;
    if (object?.corruption instanceof UntransformableError) throw undecryptableError(object);
  }
}
