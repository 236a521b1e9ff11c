import type { ResourceSlice } from '../../catalog/types/resource.v1.js';
import type { NamingProfile } from '../../config/naming-profile.js';
import { defineResource, otherVersion } from '../../registry/definition/resource-definition.js';
import { deviceClassStrategy } from './device-class.strategy.js';
import { deviceTaintRuleStatusSubresource, deviceTaintRuleStrategy } from './device-taint-rule.strategy.js';
import { poolStatusSubresource, poolStatusRequestStrategy } from './pool-status-request.strategy.js';
import { resourceClaimStatusSubresource, resourceClaimStrategy } from './resource-claim.strategy.js';
import { resourceClaimTable } from './resource-claim.table.js';
import { resourceClaimTemplateStrategy } from './resource-claim-template.strategy.js';
import { resourceSliceStrategy } from './resource-slice.strategy.js';
import { resourceSliceTable } from './resource-slice.table.js';
import { ageTable } from './age.table.js';
import {
  claimFromV1Beta1,
  claimToV1Beta1,
  sliceFromV1Beta1,
  sliceToV1Beta1,
  templateFromV1Beta1,
  templateToV1Beta1,
} from './v1beta1.conversion.js';

export const resourceGroup = (naming: NamingProfile): string => naming.group('resource');

export function resourceResources(naming: NamingProfile) {
  const group = resourceGroup(naming);
  const v1 = { group, version: 'v1', returnsDeletedObject: true };
  const deviceClasses = defineResource({
    ...v1,
    kind: 'DeviceClass',
    plural: 'deviceclasses',
    namespaced: false,
    strategy: deviceClassStrategy,
    table: ageTable,
  });
  const resourceClaims = defineResource({
    ...v1,
    kind: 'ResourceClaim',
    plural: 'resourceclaims',
    namespaced: true,
    strategy: resourceClaimStrategy,
    table: resourceClaimTable,
    subresources: { status: resourceClaimStatusSubresource },
  });
  const resourceClaimTemplates = defineResource({
    ...v1,
    kind: 'ResourceClaimTemplate',
    plural: 'resourceclaimtemplates',
    namespaced: true,
    strategy: resourceClaimTemplateStrategy,
    table: ageTable,
  });
  const resourceSlices = defineResource({
    ...v1,
    kind: 'ResourceSlice',
    plural: 'resourceslices',
    namespaced: false,
    selectableFields: {
      'spec.nodeName': ({ spec }: ResourceSlice) => spec?.nodeName ?? '',
      'spec.driver': ({ spec }: ResourceSlice) => spec?.driver ?? '',
    },
    indexedFields: ['spec.nodeName'],
    strategy: resourceSliceStrategy,
    table: resourceSliceTable,
  });
  // Stored as v1alpha3, as kube-apiserver 1.36 stores them.
  const deviceTaintRules = defineResource({
    group,
    version: 'v1alpha3',
    kind: 'DeviceTaintRule',
    plural: 'devicetaintrules',
    namespaced: false,
    strategy: deviceTaintRuleStrategy,
    table: ageTable,
    subresources: { status: deviceTaintRuleStatusSubresource },
    returnsDeletedObject: true,
  });
  const unchanged = [deviceClasses, resourceClaims, resourceClaimTemplates, resourceSlices];
  return {
    v1: unchanged,
    v1beta2: [...unchanged, deviceTaintRules].map((definition) => otherVersion(definition, { version: 'v1beta2' })),
    v1beta1: [
      otherVersion(deviceClasses, { version: 'v1beta1' }),
      otherVersion(resourceClaims, { version: 'v1beta1', toHub: claimFromV1Beta1, fromHub: claimToV1Beta1 }),
      otherVersion(resourceClaimTemplates, {
        version: 'v1beta1',
        toHub: templateFromV1Beta1,
        fromHub: templateToV1Beta1,
      }),
      otherVersion(resourceSlices, { version: 'v1beta1', toHub: sliceFromV1Beta1, fromHub: sliceToV1Beta1 }),
    ],
    v1alpha3: [
      deviceTaintRules,
      defineResource({
        group,
        version: 'v1alpha3',
        kind: 'ResourcePoolStatusRequest',
        plural: 'resourcepoolstatusrequests',
        namespaced: false,
        strategy: poolStatusRequestStrategy,
        table: ageTable,
        subresources: { status: poolStatusSubresource },
        returnsDeletedObject: true,
      }),
    ],
  };
}
