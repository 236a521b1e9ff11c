import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { HttpClient } from './http-client.js';

const fromNow = 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';

/**
 * Watches an object of a collection until it satisfies a condition, which is called with undefined while the object is
 * absent.
 */
export async function until(
  client: HttpClient,
  collection: string,
  name: string,
  holds: (object: KubeObject | undefined) => boolean,
): Promise<KubeObject | undefined> {
  const watch = await client.watch(`${collection}?${fromNow}&fieldSelector=metadata.name=${name}`);
  let latest: KubeObject | undefined;
  let isComplete = false;
  try {
    for await (const { type, object } of watch) {
      if (type === 'BOOKMARK') isComplete = true;
      else latest = type === 'DELETED' ? undefined : object;
      if ((isComplete || latest) && holds(latest)) return latest;
    }
  } finally {
    watch.close();
  }
  throw new Error(`the watch of ${collection}/${name} ended before it was as asked for`);
}

export async function untilGone(client: HttpClient, collection: string, name: string): Promise<void> {
  await until(client, collection, name, (object) => object === undefined);
}
