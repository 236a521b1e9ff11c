// Informers of @kubernetes/client-node in a process of their own, for tests.
// usage: node informers.mjs KUBECONFIG NAMESPACE
// stdin: "start" and "stop". stdout: a JSON line for each event of an informer:
// {"informer":"all"|"some","what":"add"|"update"|"delete","name":…,"version":…,"value":…}
// {"informer":…,"what":"connect"|"failed"|"stopped"}
import { createInterface } from 'node:readline';
import { CoreV1Api, KubeConfig, ListWatch, Watch } from '@kubernetes/client-node';

const [kubeconfig, namespace] = process.argv.slice(2);
const retryMs = 50;

const config = new KubeConfig();
config.loadFromFile(kubeconfig);
const api = config.makeApiClient(CoreV1Api);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const selectors = { all: 'chosen', some: 'chosen in (yes)' };
let isWanted = false;

const informers = Object.entries(selectors).map(([informer, labelSelector]) => {
  const list = () => api.listNamespacedConfigMap({ namespace, labelSelector });
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const made = new ListWatch(path, new Watch(config), list, false, labelSelector);
  for (const what of ['add', 'update', 'delete']) {
    made.on(what, ({ metadata, data }) =>
      say({ informer, what, name: metadata.name, version: metadata.resourceVersion, value: data?.value }),
    );
  }
  made.on('connect', () => say({ informer, what: 'connect' }));
  // As its documentation says: users restart it after an error.
  made.on('error', () => {
    say({ informer, what: 'failed' });
    setTimeout(() => isWanted && made.start().catch(() => undefined), retryMs);
  });
  return { informer, made };
});

for await (const line of createInterface(process.stdin)) {
  isWanted = line === 'start';
  for (const { informer, made } of informers) {
    if (isWanted) made.start().catch(() => undefined);
    else {
      await made.stop();
      say({ informer, what: 'stopped' });
    }
  }
}
process.exit(0);
