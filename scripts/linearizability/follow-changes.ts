import { ApiFailure } from '../simulation/api.js';
import type { HttpApi } from '../simulation/http-api.js';
import type { Selection } from '../simulation/selection.js';
import type { WatchEvent } from './record.js';
import { isOurs, namespace, versionOf } from './versions.js';

/** The objects of a check, and others of their namespace. */
export const everything: Selection = {
  resource: 'configmaps',
  namespace,
  query: {},
  encoding: 'json',
  selects: () => true,
};

/** The events of a watch, so far. */
interface Received {
  /** The revision of its last event or bookmark. */
  until: number;
  readonly events: WatchEvent[];
}

/**
 * Watches from `received.until` and adds the changes of our objects, until the watch ends or the function that `opened`
 * gets is called. Rejects with the failure of an ERROR event.
 */
export async function followChanges(
  api: HttpApi,
  received: Received,
  {
    query = {},
    opened,
  }: { readonly query?: Readonly<Record<string, string>>; readonly opened: (cut: () => void) => void },
): Promise<void> {
  let failure: Error | undefined;
  let finish!: () => void;
  const ended = new Promise<void>((resolve) => (finish = resolve));
  const event = (type: string, object: Parameters<typeof versionOf>[0]) => {
    if (type === 'ERROR') {
      const { code = 0, reason = '', message = '' } = object as { code?: number; reason?: string; message?: string };
      failure = new ApiFailure(code, reason, message);
      return finish();
    }
    received.until = Number(object.metadata.resourceVersion);
    const { name } = object.metadata;
    if (type !== 'BOOKMARK' && isOurs(name)) received.events.push({ type, key: name!, version: versionOf(object) });
  };
  const from = { resourceVersion: String(received.until), allowWatchBookmarks: 'true', ...query };
  const handle = await api.watch(everything, from, { event, ended: finish }, { eventsMax: Infinity, delayMs: 0 });
  opened(finish);
  await ended;
  handle.close();
  if (failure) throw failure;
}
