/** A resource of each kind to try out: what people write in charts of their own, with the bindings that `npm run import` makes. */
import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { WebServer } from '../imports/webserver.example.com.js';

export interface SamplesProps {
  /** An existing namespace that the operator serves. */
  readonly namespace: string;
}

/** Applied last: the definitions must be served. The same as the files in crds/<kind>/samples. */
export class Samples extends Chart {
  constructor(scope: Construct, id: string, props: SamplesProps) {
    super(scope, id, { namespace: props.namespace });
    new WebServer(this, 'webserver-minimal', { metadata: { name: 'hello' }, spec: { replicas: 2 } });
    new WebServer(this, 'webserver-full', {
      metadata: { name: 'docs' },
      spec: {
        replicas: 3,
        image: 'httpd:2.4',
        port: 80,
        runAsUser: 33,
        writablePaths: ['/usr/local/apache2/logs'],
      },
    });
  }
}
