import { flagSettings } from './flag-settings.js';
import { defaultConfig, loadConfig } from './load-config.js';

const of = (...argv: string[]) => {
  const loaded = loadConfig(argv, {}, { defaults: 'kube-apiserver' });
  if (loaded.errors) throw new Error(loaded.errors.join('\n'));
  return new Map(flagSettings(loaded.config));
};
const base = ['--etcd-servers=http://127.0.0.1:2379'];

describe('flagSettings', () => {
  it.each<[argument: string, name: string, value: string]>([
    ['--request-timeout=90m', 'request-timeout', '1h30m0s'],
    ['--request-timeout=1500ms', 'request-timeout', '1.5s'],
    ['--request-timeout=300ms', 'request-timeout', '300ms'],
    ['--livez-grace-period=0', 'livez-grace-period', '0s'],
    ['--anonymous-auth=false', 'anonymous-auth', 'false'],
    ['--authorization-mode=Node,RBAC', 'authorization-mode', 'Node,RBAC'],
    ['--service-node-port-range=30000-30010', 'service-node-port-range', '30000-30010'],
    ['--runtime-config=api/alpha=true,apps/v1=false', 'runtime-config', 'api/alpha=true,apps/v1=false'],
    ['--tls-sni-cert-key=a.crt,a.key:a.example,b.example', 'tls-sni-cert-key', 'a.crt,a.key:a.example,b.example'],
    ['--max-requests-inflight=7', 'max-requests-inflight', '7'],
  ])('formats the value of %s', (argument, name, value) => {
    expect(of(...base, argument).get(name)).toBe(value);
  });

  it('contains all feature gates, but neither aliases nor flags without effect', () => {
    const settings = of(...base);
    expect(settings.get('feature-gates')).toContain('WatchList=true');
    expect(settings.has('contention-profiling')).toBe(false);
  });

  it('is sorted by name', () => {
    const names = flagSettings(defaultConfig()).map(([name]) => name);
    expect(names).toEqual([...names].sort());
    expect(names.length).toBeGreaterThan(40);
  });
});
