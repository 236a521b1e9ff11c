import type { FanOutJob } from './generator-jobs.js';
import { configMap, namespace } from './objects.js';
import { must, type Server } from './servers.js';

interface Servers {
  readonly ours: Server;
  readonly bare: Server;
}

interface FanOut extends Pick<FanOutJob, 'watchers' | 'seconds' | 'warmUpMs' | 'perSecond'> {
  readonly writers?: number;
}

const folder = '/api/v1/namespaces/bench-watch/configmaps';
const writersMax = 4;

/** Creates the objects, one for each writer. Returns the resourceVersion from which to watch them. */
async function watchedObjects(ours: Server): Promise<string> {
  await must(ours, 'POST', '/api/v1/namespaces', namespace('bench-watch'));
  for (let writer = 0; writer < writersMax; writer++) {
    await must(ours, 'POST', folder, configMap(`watched-${writer}`, '00000000'));
  }
  const { metadata } = JSON.parse(await must(ours, 'GET', folder)) as { metadata: { resourceVersion: string } };
  return metadata.resourceVersion;
}

/** Returns the job of watchers of all these objects and of writers of one object each, on one of the servers. */
export async function fanOutOn(
  type: keyof Servers,
  { ours, bare }: Servers,
  { writers = writersMax, ...job }: FanOut,
): Promise<FanOutJob> {
  const since = await watchedObjects(ours);
  const object = (await must(ours, 'GET', `${folder}/watched-0`)).trimEnd();
  await must(bare, 'PUT', '/body/event', `{"type":"MODIFIED","object":${object}}\n`);
  const isBare = type === 'bare';
  const { token, target } = isBare ? bare : ours;
  return {
    type: 'fan-out',
    target,
    watch: { method: 'GET', path: isBare ? '/stream' : `${folder}?watch=1&resourceVersion=${since}`, token },
    writes: Array.from({ length: writers }, (_, writer) => ({
      method: 'PUT',
      path: isBare ? '/push' : `${folder}/watched-${writer}`,
      token,
      body: configMap(`watched-${writer}`),
    })),
    ...job,
  };
}
