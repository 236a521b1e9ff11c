import {
  expectPodErrors,
  notDnsLabel,
  notDnsSubdomain,
  notLabelValue,
  notQualifiedName,
  pod,
  type PodRow,
} from '../../../../test/harness/pods.js';

const hardAffinity = 'requiredDuringSchedulingIgnoredDuringExecution';
const softAffinity = 'preferredDuringSchedulingIgnoredDuringExecution';

it.each<PodRow>([
  [
    'toleration with operator Exists and value',
    pod({ tolerations: [{ key: 'k', operator: 'Exists', value: 'v' }] }),
    ['spec.tolerations[0].operator: Invalid value: "v": value must be empty when `operator` is \'Exists\''],
  ],
  [
    'toleration with empty key and operator Equal',
    pod({ tolerations: [{ operator: 'Equal' }] }),
    [
      'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
    ],
  ],
  [
    'toleration with bad effect',
    pod({ tolerations: [{ key: 'k', effect: 'X' }] }),
    [
      'spec.tolerations[0].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ],
  ],
  [
    'toleration with bad operator',
    pod({ tolerations: [{ key: 'k', operator: 'X' }] }),
    ['spec.tolerations[0].operator: Unsupported value: "X": supported values: "Equal", "Exists"'],
  ],
  [
    'toleration with tolerationSeconds and effect NoSchedule',
    pod({ tolerations: [{ key: 'k', operator: 'Exists', tolerationSeconds: 3 }] }),
    ['spec.tolerations[0].effect: Invalid value: "": effect must be \'NoExecute\' when `tolerationSeconds` is set'],
  ],
  [
    'toleration with bad value',
    pod({ tolerations: [{ key: 'k', value: 'a b' }] }),
    [`spec.tolerations[0].operator: Invalid value: "a b": ${notLabelValue}`],
  ],
  [
    'podAffinity without topologyKey',
    pod({ affinity: { podAffinity: { [hardAffinity]: [{ labelSelector: {} }] } } }),
    [
      `spec.affinity.podAffinity.${hardAffinity}[0].topologyKey: Required value: can not be empty`,
      `spec.affinity.podAffinity.${hardAffinity}[0].topologyKey: Invalid value: "": name part must be non-empty`,
      `spec.affinity.podAffinity.${hardAffinity}[0].topologyKey: Invalid value: "": ${notQualifiedName}`,
    ],
  ],
  [
    'podAffinity with weight 0',
    pod({ affinity: { podAntiAffinity: { [softAffinity]: [{ weight: 0, podAffinityTerm: { topologyKey: 'z' } }] } } }),
    [`spec.affinity.podAntiAffinity.${softAffinity}[0].weight: Invalid value: 0: must be in the range 1-100`],
  ],
  [
    'podAffinity with bad namespace',
    pod({ affinity: { podAffinity: { [hardAffinity]: [{ topologyKey: 'z', namespaces: ['A'] }] } } }),
    [`spec.affinity.podAffinity.${hardAffinity}[0].namespace: Invalid value: "A": ${notDnsLabel}`],
  ],
  [
    'nodeAffinity without terms',
    pod({ affinity: { nodeAffinity: { [hardAffinity]: { nodeSelectorTerms: [] } } } }),
    [
      `spec.affinity.nodeAffinity.${hardAffinity}.nodeSelectorTerms: Required value: must have at least one node selector term`,
    ],
  ],
  [
    'node selector term with bad operator',
    pod({
      affinity: {
        nodeAffinity: {
          [hardAffinity]: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Like' }] }] },
        },
      },
    }),
    [
      `spec.affinity.nodeAffinity.${hardAffinity}.nodeSelectorTerms[0].matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator`,
    ],
  ],
  [
    'node selector term In without values',
    pod({
      affinity: {
        nodeAffinity: { [hardAffinity]: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In' }] }] } },
      },
    }),
    [
      `spec.affinity.nodeAffinity.${hardAffinity}.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
    ],
  ],
  [
    'node selector term Exists with values',
    pod({
      affinity: {
        nodeAffinity: {
          [hardAffinity]: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] }],
          },
        },
      },
    }),
    [
      `spec.affinity.nodeAffinity.${hardAffinity}.nodeSelectorTerms[0].matchExpressions[0].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
    ],
  ],
  [
    'node selector term with bad key',
    pod({
      affinity: {
        nodeAffinity: {
          [hardAffinity]: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a b', operator: 'Exists' }] }] },
        },
      },
    }),
    [
      `spec.affinity.nodeAffinity.${hardAffinity}.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "a b": ${notQualifiedName}`,
    ],
  ],
  [
    'matchFields with bad key',
    pod({
      affinity: {
        nodeAffinity: {
          [hardAffinity]: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.uid', operator: 'In', values: ['x'] }] }],
          },
        },
      },
    }),
    [
      `spec.affinity.nodeAffinity.${hardAffinity}.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "metadata.uid": not a valid field selector key`,
    ],
  ],
  [
    'label selector with bad operator',
    pod({
      affinity: {
        podAffinity: {
          [hardAffinity]: [{ topologyKey: 'z', labelSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } }],
        },
      },
    }),
    [
      `spec.affinity.podAffinity.${hardAffinity}[0].labelSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator`,
    ],
  ],
  [
    'topology spread with maxSkew 0',
    pod({ topologySpreadConstraints: [{ maxSkew: 0, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' }] }),
    ['spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero'],
  ],
  [
    'topology spread without topologyKey',
    pod({ topologySpreadConstraints: [{ maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] }),
    ['spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty'],
  ],
  [
    'topology spread with bad whenUnsatisfiable',
    pod({ topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'X' }] }),
    [
      'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway"',
    ],
  ],
  [
    'duplicate topology spread',
    pod({
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
        { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' },
      ],
    }),
    ['spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, DoNotSchedule}"'],
  ],
  [
    'topology spread with minDomains and ScheduleAnyway',
    pod({
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'ScheduleAnyway', minDomains: 2 }],
    }),
    [
      'spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway',
    ],
  ],
  ['bad nodeName', pod({ nodeName: 'N_' }), [`spec.nodeName: Invalid value: "N_": ${notDnsSubdomain}`]],
  [
    'bad nodeSelector',
    pod({ nodeSelector: { 'a b': 'c' } }),
    [`spec.nodeSelector: Invalid value: "a b": ${notQualifiedName}`],
  ],
  [
    'bad readiness gate',
    pod({ readinessGates: [{ conditionType: 'a b' }] }),
    [`spec.readinessGates[0].conditionType: Invalid value: "a b": ${notQualifiedName}`],
  ],
  [
    'bad scheduling gate',
    pod({ schedulingGates: [{ name: 'a b' }] }),
    [`spec.schedulingGates[0]: Invalid value: "a b": ${notQualifiedName}`],
  ],
  [
    'duplicate scheduling gates',
    pod({ schedulingGates: [{ name: 'a' }, { name: 'a' }] }),
    ['spec.schedulingGates[1]: Duplicate value: "a"'],
  ],
  [
    'scheduling gate and nodeName',
    pod({ schedulingGates: [{ name: 'a' }], nodeName: 'n' }),
    ['spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
  ],
])('Pod with %s is rejected', (_name, object, errors) => expectPodErrors(object, errors));

it.each<PodRow>([
  [
    'node selector term Gt with a word',
    pod({
      affinity: {
        nodeAffinity: {
          [hardAffinity]: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Gt', values: ['x'] }] }] },
        },
      },
    }),
    [],
  ],
  [
    'topology spread with a topologyKey that is no label key',
    pod({ topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'a b', whenUnsatisfiable: 'DoNotSchedule' }] }),
    [],
  ],
])('Pod with %s is accepted', (_name, object, errors) => expectPodErrors(object, errors));
