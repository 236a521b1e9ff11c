import { Module } from '@nestjs/common';
import { NodeGroup } from './node.group.js';

@Module({ providers: [{ provide: NodeGroup, useFactory: () => new NodeGroup() }] })
export class NodeModule {}
