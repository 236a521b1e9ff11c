import type { NamingProfile } from '../../config/naming-profile.js';
import {
  defineResource,
  otherVersion,
  type ResourceDefinition,
} from '../../registry/definition/resource-definition.js';
import { autoscalerStatusSubresource, autoscalerStrategy } from './horizontal-pod-autoscaler.strategy.js';
import { autoscalerTable } from './horizontal-pod-autoscaler.table.js';
import { autoscalerConverters } from './horizontal-pod-autoscaler.v1.js';

export const autoscalingGroup = 'autoscaling';

export const autoscalersV2: ResourceDefinition = defineResource({
  group: autoscalingGroup,
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  shortNames: ['hpa'],
  categories: ['all'],
  namespaced: true,
  strategy: autoscalerStrategy,
  table: autoscalerTable(),
  subresources: { status: autoscalerStatusSubresource },
});

export function autoscalersV1(naming: NamingProfile): ResourceDefinition {
  const converters = autoscalerConverters(naming);
  return otherVersion(autoscalersV2, { version: 'v1', ...converters, table: autoscalerTable(converters.toHub) });
}
