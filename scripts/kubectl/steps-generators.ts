import { join } from 'node:path';
import { packageRoot } from '../../src/config/config-files.js';
import type { Step } from './step.js';

/** A certificate and key for these tests. */
const pair = join(packageRoot, 'test/manifests/shop-tls.pem');

/** All generators of `kubectl create`, in an existing namespace. */
export function generatorSteps(namespace: string): readonly Step[] {
  const clusterWide = `${namespace}-made`;
  const make = (resource: string, kind: string, name: string, ...words: string[]): Step => ({
    name: `create ${kind}`,
    args: ['create', '-n', namespace, ...kind.split(' '), name, ...words],
    stdout: new RegExp(`^${resource}/${name} created$`, 'm'),
  });
  const shown = (kind: string, name: string, path: string, stdout: RegExp): Step => ({
    name: `get the created ${kind}`,
    args: ['get', kind, name, '-o', `jsonpath={${path}}`, '-n', namespace],
    stdout,
  });
  return [
    make('clusterrole.rbac.authorization.k8s.io', 'clusterrole', clusterWide, '--verb=get,list', '--resource=pods'),
    make(
      'clusterrolebinding.rbac.authorization.k8s.io',
      'clusterrolebinding',
      clusterWide,
      `--clusterrole=${clusterWide}`,
      '--user=jane',
      '--group=readers',
    ),
    make('role.rbac.authorization.k8s.io', 'role', 'reader', '--verb=get', '--resource=deployments.apps'),
    make(
      'rolebinding.rbac.authorization.k8s.io',
      'rolebinding',
      'reader',
      '--role=reader',
      `--serviceaccount=${namespace}:default`,
    ),
    shown('role', 'reader', '.rules[0].apiGroups', /^\["apps"\]$/),
    make('serviceaccount', 'serviceaccount', 'worker'),
    make('configmap', 'configmap', 'words', '--from-literal=a=1', '--from-literal=b=2'),
    shown('configmap', 'words', '.data', /^\{"a":"1","b":"2"\}$/),
    make('secret', 'secret generic', 'words', '--from-literal=password=hush', '--type=example.com/mine'),
    make(
      'secret',
      'secret docker-registry',
      'pull',
      '--docker-server=registry.example.com',
      '--docker-username=robot',
      '--docker-password=hush',
      '--docker-email=robot@example.com',
    ),
    shown('secret', 'pull', '.type', /^kubernetes\.io\/dockerconfigjson$/),
    make('secret', 'secret tls', 'tls', `--cert=${pair}`, `--key=${pair}`),
    shown('secret', 'tls', '.type', /^kubernetes\.io\/tls$/),
    make('deployment.apps', 'deployment', 'made', '--image=registry.example/app:1', '--replicas=2', '--port=8080'),
    shown('deployment', 'made', '.spec.strategy.type', /^RollingUpdate$/),
    make('job.batch', 'job', 'made', '--image=registry.example/job:1', '--', 'sh', '-c', 'true'),
    make('cronjob.batch', 'cronjob', 'made', '--image=registry.example/job:1', '--schedule=*/5 * * * *'),
    make('job.batch', 'job', 'from-schedule', '--from=cronjob/made'),
    make('ingress.networking.k8s.io', 'ingress', 'made', '--class=edge', '--rule=shop.example.com/pay*=pay:http,tls=t'),
    shown('ingress', 'made', '.spec.rules[0].http.paths[0].pathType', /^Prefix$/),
    make('poddisruptionbudget.policy', 'poddisruptionbudget', 'made', '--selector=app=made', '--min-available=50%'),
    make('priorityclass.scheduling.k8s.io', 'priorityclass', clusterWide, '--value=1000', '--description=made'),
    make('resourcequota', 'quota', 'made', '--hard=count/secrets=100,count/services=100'),
    shown('resourcequota', 'made', '.spec.hard', /^\{"count\/secrets":"100","count\/services":"100"\}$/),
    make('service', 'service clusterip', 'inside', '--tcp=5678:8080'),
    make('service', 'service nodeport', 'outside', '--tcp=80'),
    make('service', 'service loadbalancer', 'balanced', '--tcp=443:8443'),
    make('service', 'service externalname', 'elsewhere', '--external-name=db.example.com', '--tcp=5432'),
    shown('service', 'outside', '.spec.ports[0].nodePort', /^3[0-2]\d{3}$/),
    shown('service', 'elsewhere', '.spec.clusterIP', /^$/),
    make('namespace', 'namespace', `${namespace}-made`),
    {
      name: 'create token',
      args: ['create', 'token', 'worker', '--duration=1h', '--audience=example.com', '-n', namespace],
      stdout: /^ey[\w-]+\.[\w-]+\.[\w-]+$/m,
    },
    {
      name: 'create token, bound to a secret',
      args: [
        ...['create', 'token', 'worker', '--bound-object-kind=Secret', '--bound-object-name=words'],
        ...['-o', 'jsonpath={.status.token}', '-n', namespace],
      ],
      stdout: /^ey/,
    },
    {
      name: 'expose',
      args: ['expose', 'deployment', 'made', '--name=exposed', '--port=80', '--target-port=8080', '-n', namespace],
      stdout: /^service\/exposed exposed$/m,
    },
    {
      name: 'delete the cluster-scoped objects',
      args: [
        ...['delete', `clusterrole/${clusterWide}`, `clusterrolebinding/${clusterWide}`],
        ...[`priorityclass/${clusterWide}`, `namespace/${clusterWide}`],
      ],
      stdout: new RegExp(`^(.*"${clusterWide}" deleted.*\\n){4}$`, 'm'),
    },
  ];
}
