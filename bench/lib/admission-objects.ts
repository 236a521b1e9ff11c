// Webhooks and policies for every create of a ConfigMap.

const group = 'admissionregistration.k8s.io/v1';
const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };

interface Registration {
  readonly path: string;
  readonly body: string;
}

const registration = (plural: string, object: object): Registration => ({
  path: `/apis/${group}/${plural}`,
  body: JSON.stringify({ apiVersion: group, ...object }),
});

export function webhookConfigurations(clientConfigs: {
  readonly mutating: object;
  readonly validating: object;
}): readonly Registration[] {
  return (['mutating', 'validating'] as const).map((type) => {
    const webhook = {
      name: 'bench.example.com',
      rules: [rule],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      clientConfig: clientConfigs[type],
    };
    return registration(`${type}webhookconfigurations`, { metadata: { name: 'bench' }, webhooks: [webhook] });
  });
}

/** Refused by the last of `policies`. */
export const refusedName = 'kube-refused';

/** As policies of clusters are: about labels, sizes and names. */
const expressions = [
  "has(object.metadata.labels) && 'app' in object.metadata.labels",
  'object.data.all(key, size(object.data[key]) < 10000)',
  "!object.metadata.name.startsWith('kube-')",
];

export const policies: readonly Registration[] = expressions.flatMap((expression, index) => {
  const metadata = { name: `bench-${index}` };
  const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }] };
  const binding = { policyName: metadata.name, validationActions: ['Deny'] };
  return [
    registration('validatingadmissionpolicies', { metadata, spec }),
    registration('validatingadmissionpolicybindings', { metadata, spec: binding }),
  ];
});
