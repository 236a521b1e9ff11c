import { ApiError } from '../../machinery/api-error.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import {
  forwardsPorts,
  proxiesToNode,
  proxiesToPod,
  proxiesToService,
  readsLog,
  streamsWithContainer,
  type ConnectionRule,
} from './connections.js';

const object = (rest: object): KubeObject => ({ kind: '', apiVersion: 'v1', metadata: { name: 'p' }, ...rest });
const unscheduled = object({ spec: { containers: [{ name: 'c' }] } });
const scheduled = object({
  spec: { nodeName: 'n', containers: [{ name: 'c' }] },
  status: { podIPs: [{ ip: '1.2.3.4' }] },
});
const withTwoContainers = object({
  spec: { nodeName: 'n', containers: [{ name: 'a' }, { name: 'b' }], initContainers: [{ name: 'i' }] },
});

const outcome = (rule: ConnectionRule, target: KubeObject, container?: string): string => {
  try {
    rule(target, container ?? '');
    return 'no error';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `${error.code} ${error.message}`;
  }
};

it.each<[string, ConnectionRule, KubeObject, string | undefined, string]>([
  [
    'exec in an unscheduled Pod is refused (400)',
    streamsWithContainer,
    unscheduled,
    undefined,
    '400 pod p does not have a host assigned',
  ],
  [
    'port forward to an unscheduled Pod is refused (400)',
    forwardsPorts,
    unscheduled,
    undefined,
    '400 pod p does not have a host assigned',
  ],
  ['log of an unscheduled Pod is empty', readsLog, unscheduled, undefined, 'no error'],
  ['proxy to a Pod without IP is refused (400)', proxiesToPod, unscheduled, undefined, '400 address not allowed'],
  [
    'exec in an unknown container is refused (400)',
    streamsWithContainer,
    scheduled,
    'x',
    '400 container x is not valid for pod p',
  ],
  [
    'log of an unknown container is refused (400)',
    readsLog,
    unscheduled,
    'x',
    '400 container x is not valid for pod p',
  ],
  [
    'log without container of a Pod with two is refused (400)',
    readsLog,
    withTwoContainers,
    undefined,
    '400 a container name must be specified for pod p, choose one of: [a b] or one of the init containers: [i]',
  ],
  [
    'log of an init container is unavailable (503)',
    readsLog,
    withTwoContainers,
    'i',
    expect.stringMatching(/^503 cannot read the log of pod p/) as string,
  ],
  [
    'exec in a scheduled Pod is unavailable (503)',
    streamsWithContainer,
    scheduled,
    undefined,
    expect.stringMatching(/^503 .*connect to kubelets$/) as string,
  ],
  [
    'proxy to a Pod is unavailable (503)',
    proxiesToPod,
    scheduled,
    undefined,
    expect.stringMatching(/^503 .*connect to the Pod network$/) as string,
  ],
  [
    'proxy to a Service is unavailable (503)',
    proxiesToService,
    object({}),
    undefined,
    expect.stringMatching(/^503 /) as string,
  ],
  [
    'proxy to a Node is unavailable (503)',
    proxiesToNode,
    object({}),
    undefined,
    expect.stringMatching(/^503 /) as string,
  ],
])('%s', (_name, rule, target, container, want) => expect(outcome(rule, target, container)).toEqual(want));
