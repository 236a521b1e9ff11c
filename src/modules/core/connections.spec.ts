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
const waiting = object({ spec: { containers: [{ name: 'c' }] } });
const placed = object({
  spec: { nodeName: 'n', containers: [{ name: 'c' }] },
  status: { podIPs: [{ ip: '1.2.3.4' }] },
});
const two = object({
  spec: { nodeName: 'n', containers: [{ name: 'a' }, { name: 'b' }], initContainers: [{ name: 'i' }] },
});

const outcome = (rule: ConnectionRule, given: KubeObject, container?: string): string => {
  try {
    rule(given, { first: () => container, all: () => [] });
    return 'nothing';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `${error.code} ${error.message}`;
  }
};

it.each<[string, ConnectionRule, KubeObject, string | undefined, string]>([
  ['exec, no node', streamsWithContainer, waiting, undefined, '400 pod p does not have a host assigned'],
  ['port forward, no node', forwardsPorts, waiting, undefined, '400 pod p does not have a host assigned'],
  ['log, no node', readsLog, waiting, undefined, 'nothing'],
  ['proxy, no address', proxiesToPod, waiting, undefined, '400 address not allowed'],
  ['exec, no such container', streamsWithContainer, placed, 'x', '400 container x is not valid for pod p'],
  ['log, no such container', readsLog, waiting, 'x', '400 container x is not valid for pod p'],
  [
    'log, which container',
    readsLog,
    two,
    undefined,
    '400 a container name must be specified for pod p, choose one of: [a b] or one of the init containers: [i]',
  ],
  [
    'log of an init container',
    readsLog,
    two,
    'i',
    expect.stringMatching(/^503 cannot read the log of pod p/) as string,
  ],
  ['exec', streamsWithContainer, placed, undefined, expect.stringMatching(/^503 .*agents of nodes$/) as string],
  ['proxy to a pod', proxiesToPod, placed, undefined, expect.stringMatching(/^503 .*network of pods$/) as string],
  ['proxy to a service', proxiesToService, object({}), undefined, expect.stringMatching(/^503 /) as string],
  ['proxy to a node', proxiesToNode, object({}), undefined, expect.stringMatching(/^503 /) as string],
])('%s', (_name, rule, given, container, want) => expect(outcome(rule, given, container)).toEqual(want));
