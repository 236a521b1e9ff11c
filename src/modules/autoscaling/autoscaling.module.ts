import { Module } from '@nestjs/common';
import { AutoscalingGroup } from './autoscaling.group.js';

@Module({ providers: [{ provide: AutoscalingGroup, useFactory: () => new AutoscalingGroup() }] })
export class AutoscalingModule {}
