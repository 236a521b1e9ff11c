import { expectPodErrors, pod, type PodRow, podWithContainer } from '../../../../test/harness/pods.js';

it.each<PodRow>([
  [
    'request over limit',
    podWithContainer({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
    ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
  ],
  [
    'unknown resource',
    podWithContainer({ resources: { limits: { spoons: '1' } } }),
    [
      'spec.containers[0].resources.limits[spoons]: Invalid value: "spoons": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.limits[spoons]: Invalid value: "spoons": must be a standard resource for containers',
      'spec.containers[0].resources.requests[spoons]: Invalid value: "spoons": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.requests[spoons]: Invalid value: "spoons": must be a standard resource for containers',
    ],
  ],
  [
    'request of a resource with the name of an inherited property',
    podWithContainer({ resources: { requests: { constructor: '2' }, limits: { cpu: '1' } } }),
    [
      'spec.containers[0].resources.requests[constructor]: Invalid value: "constructor": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.requests[constructor]: Invalid value: "constructor": must be a standard resource for containers',
    ],
  ],
  [
    'limit of a resource with the name of an inherited property',
    podWithContainer({ resources: { limits: { valueOf: '1' } } }),
    [
      'spec.containers[0].resources.limits[valueOf]: Invalid value: "valueOf": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.limits[valueOf]: Invalid value: "valueOf": must be a standard resource for containers',
      'spec.containers[0].resources.requests[valueOf]: Invalid value: "valueOf": must be a standard resource type or fully qualified',
      'spec.containers[0].resources.requests[valueOf]: Invalid value: "valueOf": must be a standard resource for containers',
    ],
  ],
  [
    'negative quantity',
    podWithContainer({ resources: { limits: { cpu: '-1' } } }),
    [
      'spec.containers[0].resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    ],
  ],
  [
    'fraction of an extended resource',
    podWithContainer({ resources: { limits: { 'example.com/g': '500m' } } }),
    [
      'spec.containers[0].resources.limits[example.com/g]: Invalid value: "500m": must be an integer',
      'spec.containers[0].resources.requests[example.com/g]: Invalid value: "500m": must be an integer',
    ],
  ],
  [
    'request of an extended resource without limit',
    podWithContainer({ resources: { requests: { 'example.com/g': '1' } } }),
    ['spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources'],
  ],
  [
    'hugepages without limit',
    podWithContainer({ resources: { requests: { 'hugepages-2Mi': '2Mi' } } }),
    [
      'spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources',
      'spec.containers[0].resources: Forbidden: HugePages require cpu or memory',
    ],
  ],
  [
    'hugepages that are no multiple of the page size',
    podWithContainer({ resources: { limits: { 'hugepages-2Mi': '1Mi', memory: '1Mi' } } }),
    [
      'spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "1Mi": 1Mi is not positive integer multiple of hugepages-2Mi',
      'spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "1Mi": 1Mi is not positive integer multiple of hugepages-2Mi',
    ],
  ],
  [
    'quota resource as container resource',
    podWithContainer({ resources: { limits: { 'requests.storage': '1' } } }),
    [
      'spec.containers[0].resources.limits[requests.storage]: Invalid value: "requests.storage": must be a standard resource for containers',
      'spec.containers[0].resources.requests[requests.storage]: Invalid value: "requests.storage": must be a standard resource for containers',
    ],
  ],
  [
    'resource claim that the Pod does not declare',
    podWithContainer({ resources: { claims: [{ name: 'x' }] } }),
    [
      'spec.containers[0].resources.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty',
    ],
  ],
  [
    'duplicate resizePolicy',
    podWithContainer({
      resizePolicy: [
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
      ],
    }),
    ['spec.containers[0].resizePolicy[1]: Duplicate value: "cpu"'],
  ],
  [
    'resizePolicy with bad resource',
    podWithContainer({ resizePolicy: [{ resourceName: 'x', restartPolicy: 'NotRequired' }] }),
    ['spec.containers[0].resizePolicy: Unsupported value: "x": supported values: "cpu", "memory"'],
  ],
  [
    'unsupported Pod-level resource',
    pod({ resources: { limits: { 'ephemeral-storage': '1' } } }),
    [
      'spec.resources.limits[ephemeral-storage]: Unsupported value: "ephemeral-storage": supported values: "cpu", "hugepages-", "memory"',
    ],
  ],
])('Pod with %s is rejected', (_name, object, errors) => expectPodErrors(object, errors));
