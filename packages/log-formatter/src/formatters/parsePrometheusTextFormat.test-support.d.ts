declare module "parse-prometheus-text-format" {
  interface Metric {
    labels?: Record<string, string>;
    value?: string;
    sum?: string;
    count?: string;
  }
  export default function parsePrometheusTextFormat(
    text: string,
  ): { name: string; help: string; type: string; metrics: Metric[] }[];
}
