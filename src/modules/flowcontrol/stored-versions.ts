import type * as v1 from '../../catalog/types/flowcontrol.v1.js';
import type * as v1beta1 from '../../catalog/types/flowcontrol.v1beta1.js';
import type * as v1beta2 from '../../catalog/types/flowcontrol.v1beta2.js';
import type * as v1beta3 from '../../catalog/types/flowcontrol.v1beta3.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import type { StoredVersion } from '../../registry/definition/resource-definition.js';

/** PriorityLevelConfigurations before v1: the shares had another name, and zero meant unset. */
export const storedLevels = (group: string, naming: NamingProfile): readonly StoredVersion[] => [
  { group, version: 'v1beta1', toHub: renamedShares },
  { group, version: 'v1beta2', toHub: renamedShares },
  {
    group,
    version: 'v1beta3',
    toHub: keptZero(naming.label('v1beta3-preserve-zero-concurrency-shares', 'flowcontrol')),
  },
];

function renamedShares(
  stored: v1beta1.PriorityLevelConfiguration | v1beta2.PriorityLevelConfiguration,
): v1.PriorityLevelConfiguration {
  const { assuredConcurrencyShares: shares, ...limited } = stored.spec?.limited ?? {};
  if (shares === undefined) return stored;
  return { ...stored, spec: { ...stored.spec, limited: { ...limited, nominalConcurrencyShares: shares } } };
}

const keptZero =
  (annotation: string) =>
  (stored: v1beta3.PriorityLevelConfiguration): v1.PriorityLevelConfiguration => {
    const { [annotation]: mark, ...annotations } = stored.metadata.annotations ?? {};
    const { spec } = stored;
    if (mark === undefined || !spec?.limited || spec.limited.nominalConcurrencyShares) return stored;
    const metadata = { ...stored.metadata, annotations };
    return { ...stored, metadata, spec: { ...spec, limited: { ...spec.limited, nominalConcurrencyShares: 0 } } };
  };
