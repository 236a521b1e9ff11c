import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { delegatedAccess } from '../../dist/examples/aggregated-server/delegated-access.js';
import {
  ApiGroup,
  defaultConfig,
  defineResource,
  groupModule,
  nameIsDnsSubdomain,
  startServer,
} from '../../dist/src/index.js';

// A server of the group wardle.example.com/v1alpha1 of the published sample API server: Flunders are namespaced, Fischers
// are not. --directory has tls.crt and tls.key.

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    directory: { type: 'string' },
    address: { type: 'string' },
    port: { type: 'string' },
  },
});
const { directory } = values;

const version = { group: 'wardle.example.com', version: 'v1alpha1' };
const resource = (kind, plural, namespaced) =>
  defineResource({
    ...version,
    ...{ kind, plural, namespaced, storagePrefix: `${version.group}/${plural}` },
    strategy: { validateName: nameIsDnsSubdomain },
  });
class WardleGroup {}
ApiGroup({
  ...version,
  resources: [resource('Flunder', 'flunders', true), resource('Fischer', 'fischers', false)],
})(WardleGroup);

const config = defaultConfig({
  ...(await delegatedAccess(values.kubeconfig, join(directory, 'main'))),
  storage: { backend: 'memory' },
  // Alpha versions are off by default.
  runtimeConfig: { [`${version.group}/${version.version}`]: true },
  serving: {
    bindAddress: values.address,
    securePort: Number(values.port),
    tlsCertFile: join(directory, 'tls.crt'),
    tlsPrivateKeyFile: join(directory, 'tls.key'),
    certDirectory: join(directory, 'certificates'),
  },
  // Namespaces, quotas and the like are objects of the main server.
  admission: { disabledPlugins: ['NamespaceLifecycle', 'LimitRanger', 'ResourceQuota', 'ServiceAccount'] },
});
const server = await startServer(config, {
  modules: () => [groupModule(WardleGroup)],
  servedGroups: [version.group],
  reconciles: false,
});
process.stdout.write(`Serving ${server.url}\n`);
