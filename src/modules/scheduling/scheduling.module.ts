import { Module } from '@nestjs/common';
import { SchedulingGroup } from './scheduling.group.js';

@Module({ providers: [{ provide: SchedulingGroup, useFactory: () => new SchedulingGroup() }] })
export class SchedulingModule {}
