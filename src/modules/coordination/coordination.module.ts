import { Module } from '@nestjs/common';
import { CoordinationGroup } from './coordination.group.js';

@Module({ providers: [{ provide: CoordinationGroup, useFactory: () => new CoordinationGroup() }] })
export class CoordinationModule {}
