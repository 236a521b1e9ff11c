import { ApiGroup } from '../../registry/apis/api-group.js';
import { autoscalersV1, autoscalersV2, autoscalingGroup } from './autoscaling.resources.js';

@ApiGroup((naming) => [
  { group: autoscalingGroup, version: 'v2', groupPriority: 17500, versionPriority: 30, resources: [autoscalersV2] },
  {
    group: autoscalingGroup,
    version: 'v1',
    groupPriority: 17500,
    versionPriority: 15,
    resources: [autoscalersV1(naming)],
  },
])
export class AutoscalingGroup {}
