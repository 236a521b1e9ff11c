import type { NamingProfile } from '../../config/naming-profile.js';
import { asFields, isSet } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';
import type { StoredVersion } from '../../registry/definition/resource-definition.js';

/** PriorityLevelConfigurations before v1: the shares had another name, and zero could not be told from none. */
export const storedLevels = (group: string, naming: NamingProfile): readonly StoredVersion[] => [
  { group, version: 'v1beta1', toHub: renamedShares },
  { group, version: 'v1beta2', toHub: renamedShares },
  {
    group,
    version: 'v1beta3',
    toHub: keptZero(naming.label('v1beta3-preserve-zero-concurrency-shares', 'flowcontrol')),
  },
];

function renamedShares(stored: KubeObject): KubeObject {
  const spec = asFields(stored['spec']);
  if (!isSet(spec['limited'])) return stored;
  const { assuredConcurrencyShares, ...limited } = asFields(spec['limited']);
  if (!isSet(assuredConcurrencyShares)) return stored;
  return { ...stored, spec: { ...spec, limited: { ...limited, nominalConcurrencyShares: assuredConcurrencyShares } } };
}

const keptZero =
  (annotation: string) =>
  (stored: KubeObject): KubeObject => {
    const { [annotation]: mark, ...annotations } = stored.metadata.annotations ?? {};
    const spec = asFields(stored['spec']);
    const limited = asFields(spec['limited']);
    if (mark === undefined || !isSet(spec['limited']) || limited['nominalConcurrencyShares']) return stored;
    const metadata = { ...stored.metadata, annotations };
    return { ...stored, metadata, spec: { ...spec, limited: { ...limited, nominalConcurrencyShares: 0 } } };
  };
