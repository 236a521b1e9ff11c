import { Module } from '@nestjs/common';
import { DiscoveryGroup } from './discovery.group.js';

@Module({ providers: [{ provide: DiscoveryGroup, useFactory: () => new DiscoveryGroup() }] })
export class EndpointDiscoveryModule {}
