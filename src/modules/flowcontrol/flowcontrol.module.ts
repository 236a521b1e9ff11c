import { Module } from '@nestjs/common';
import { FlowcontrolGroup } from './flowcontrol.group.js';

@Module({ providers: [{ provide: FlowcontrolGroup, useFactory: () => new FlowcontrolGroup() }] })
export class FlowcontrolModule {}
