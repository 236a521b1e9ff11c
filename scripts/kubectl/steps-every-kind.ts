import { join } from 'node:path';
import { packageRoot } from '../../src/config/config-files.js';
import type { Step } from './step.js';

/** One object of every stable kind, in a namespace of its own. */
const everyKind = ['-f', join(packageRoot, 'test/manifests')];
const namespace = 'shop';

/**
 * Objects that kubectl diff always finds different, with every server: it replaces the selector of a
 * PodDisruptionBudget each time, and compares volumeClaimTemplates, which have defaults, as one list.
 */
const neverTheSame = 'poddisruptionbudget.policy/checkout|statefulset.apps/orders';

/** Expected output of `kubectl describe` for some of them. */
const described: Readonly<Record<string, RegExp>> = {
  'configmap/checkout': /^currency:\n----\nEUR$[^]*^logo.ico: 14 bytes$/m,
  'cronjob/clean-carts': /^Schedule: +\*\/15 3-5 \* \* 1-5$[^]*^Concurrency Policy: +Forbid$/m,
  'csinode/shop-worker-1': /^ {2,}csi\.shop\.example\.com:$[^]*^ +Node ID: +i-0123$/m,
  'daemonset/log-shipper': /^Desired Number of Nodes Scheduled: 0$/m,
  'deployment/checkout': /^Replicas: +3 desired[^]*^RollingUpdateStrategy: +25% max unavailable, 1 max surge$/m,
  'endpoints/payment-provider': /^ +Addresses: +192\.0\.2\.10$/m,
  'endpointslice/checkout-x7k2p': /^AddressType: +IPv4$[^]*^ +http +8080 +TCP$/m,
  'hpa/checkout': /^Min replicas: +3$[^]*^Max replicas: +12$/m,
  'ingress/shop': /^Ingress Class: +shop-edge$[^]*\/checkout +checkout:http/m,
  'ingressclass/shop-edge': /^Controller: +example\.com\/edge$/m,
  'job/nightly-report': /^Completions: +4$[^]*^Completion Mode: +Indexed$/m,
  'lease/order-dispatcher': /^ +Holder Identity: +orders-0$/m,
  'limitrange/containers': /^Container +memory +- +4Gi +64Mi +256Mi/m,
  'namespace/shop': /^Labels: +kubernetes\.io\/metadata\.name=shop$[^]*requests\.cpu +\S+ +20$/m,
  'networkpolicy/orders': /^ +To Port: sql\/TCP$[^]*^ +CIDR: 198\.51\.100\.0\/24$/m,
  'node/shop-worker-1': /^PodCIDRs: +203\.0\.113\.64\/26$/m,
  'pdb/checkout': /^Min available: +50%$/m,
  'pod/debug': /^Priority Class Name: +shop-checkout$[^]*^QoS Class: +Burstable$/m,
  'priorityclass/shop-checkout': /^Value: +100000$/m,
  'pv/shop-archive': /^ +VolumeHandle: +vol-0456$/m,
  'pvc/archive': /^Volume: +shop-archive$/m,
  'replicaset/banner': /^Replicas: +0 current \/ 1 desired$/m,
  'replicationcontroller/legacy-cart': /^Replicas: +0 current \/ 2 desired$/m,
  'quota/shop': /^pods +\d+ +100$/m,
  'role/report-reader': /^ +jobs\.batch +\[\] +\[nightly-report\] +\[get\]$/m,
  'rolebinding/report-reader': /^ +ServiceAccount +reporter +shop$/m,
  'runtimeclass/shop-sandboxed': /^Handler: +gvisor$/m,
  'secret/registry': /^\.dockerconfigjson: +\d+ bytes$/m,
  'service/checkout': /^TargetPort: +http\/TCP$[^]*^External Traffic Policy: +Local$/m,
  'serviceaccount/reporter': /^Image pull secrets: +registry/m,
  'statefulset/orders': /^ +StorageClass: +shop-fast$/m,
  'storageclass/shop-fast': /^VolumeBindingMode: +WaitForFirstConsumer$/m,
  'csr/shop-reporter': /^Status: +Pending$[^]*^ +Common Name: +shop-reporter$/m,
  'crd/vouchers.shop.example.com': /^ +Plural: +vouchers$/m,
  'validatingwebhookconfiguration/shop-vouchers': /^ +Failure Policy: +Ignore$/m,
};

/** Creates, reads and deletes the objects of a shop that uses every kind. */
export function everyKindSteps(): readonly Step[] {
  const here = ['-n', namespace];
  const release = (kind: string, name: string): Step => ({
    name: `remove the finalizers of the ${kind}`,
    args: ['patch', kind, name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}', ...here],
    stdout: /patched/,
  });
  return [
    {
      name: 'apply every kind',
      args: ['apply', ...everyKind],
      stdout: /^(\S+ created\n){60}$/,
    },
    {
      name: 'apply every kind again',
      args: ['apply', ...everyKind],
      stdout: new RegExp(`^((\\S+ unchanged|(${neverTheSame}) configured)\\n){60}$`),
    },
    {
      name: 'diff of every kind',
      args: ['diff', ...everyKind],
      stdout: /^$/,
    },
    {
      name: 'apply every kind, on the server',
      args: ['apply', '--server-side', '--force-conflicts', ...everyKind],
      stdout: /^(\S+ serverside-applied\n){60}$/,
    },
    { name: 'get of every kind', args: ['get', ...everyKind], stdout: /^NAME +STATUS +AGE\nnamespace\/shop/ },
    ...Object.entries(described).map(([name, stdout]): Step => {
      return { name: `describe ${name}`, args: ['describe', name, ...here], stdout };
    }),
    // Removes finalizers of controllers that do not run here.
    release('pvc', 'archive'),
    release('pv', 'shop-archive'),
    release('volumeattributesclass', 'shop-gold'),
    {
      name: 'delete every kind',
      args: ['delete', '--ignore-not-found', '--timeout=30s', ...everyKind],
      stdout: /^namespace "shop" deleted/,
    },
  ];
}
