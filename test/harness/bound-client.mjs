// Lists Pods with a token by the official JavaScript client. usage: node bound-client.mjs URL CA_FILE TOKEN_FILE NAMESPACE
// Prints the status code of a list for each line on its standard input.
import { createInterface } from 'node:readline';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';

const [server, caFile, tokenFile, namespace] = process.argv.slice(2);
const config = new KubeConfig();
config.loadFromOptions({
  clusters: [{ name: 'c', server, caFile }],
  users: [{ name: 'u', authProvider: { name: 'tokenFile', config: { tokenFile } } }],
  contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
  currentContext: 'x',
});
const core = config.makeApiClient(CoreV1Api);

createInterface(process.stdin).on('line', async () => {
  const code = await core.listNamespacedPod({ namespace }).then(
    () => 200,
    (error) => error.code ?? String(error),
  );
  process.stdout.write(`${code}\n`);
});
process.stdin.on('end', () => process.exit(0));
