/* The report as one HTML page and as Markdown. The page names what may run in it by its digest and
 * forbids everything else, so a name that would slip through the escaping still does nothing, and
 * nothing is fetched from anywhere. */
#include <openssl/evp.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "report/drift.h"
#include "report/page.h"
#include "report/sections.h"
#include "report/text.h"

static void add_sections(struct doc *d, const struct report *r)
{
	section_glance(d, r);
	section_comparison(d, r);
	section_variants(d, r);
	section_luck(d, r);
	section_history(d, r);
	section_gates(d, r);
	section_training(d, r);
	section_coverage(d, r);
	section_profile(d, r);
	section_layout(d, r);
	section_build(d, r);
	section_stages(d, r);
	section_artefacts(d, r);
	doc_end_sections(d);
}

/* "edge 1.2 for x86_64-linux-gnu". Caller frees. */
static char *subject(const struct report *r)
{
	return xasprintf("%s%s%s%s%s", r->project ? r->project : "?", r->version ? " " : "",
		r->version ? r->version : "", r->target ? " for " : "", r->target ? r->target : "");
}

void report_markdown(const struct report *r, struct buf *out)
{
	struct doc d = {.out = out, .format = DOC_MARKDOWN};
	auto_free char *title = subject(r);

	buf_adds(out, "# ");
	markdown_text(out, title);
	buf_addf(out, "\n\nwhet's report of a build started %s\n\n", r->started ? r->started : "?");
	add_sections(&d, r);
	doc_release(&d);
	while (out->n > 1 && out->p[out->n - 1] == '\n' && out->p[out->n - 2] == '\n')
		out->p[--out->n] = '\0';
}

/* ---- HTML ------------------------------------------------------------------------------------ */

/* A source expression of a content security policy: 'sha256-…'. */
static void add_source(struct buf *out, const char *content)
{
	unsigned char digest[EVP_MAX_MD_SIZE], text[2 * EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (!EVP_Digest(content, strlen(content), digest, &n, EVP_sha256(), NULL))
		n = 0; /* then it is forbidden, and the tables stay */
	EVP_EncodeBlock(text, digest, (int)n);
	buf_addf(out, "'sha256-%s'", text);
}

static void add_head(struct buf *out, const char *title, const char *style, const char *script)
{
	buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		      "style-src ");
	add_source(out, style);
	buf_adds(out, "; script-src ");
	add_source(out, script);
	buf_adds(out, "; base-uri 'none'; form-action 'none'\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	html_text(out, title);
	buf_addf(out, " – whet report</title>\n<style>%s</style>\n</head>\n", style);
}

static void add_contents(struct buf *out, const struct strv *sections)
{
	buf_adds(out, "<nav aria-label=\"Contents\"><ul>\n");
	for (size_t i = 0; i + 1 < sections->n; i += 2) {
		buf_addf(out, "<li><a href=\"#%s\">", sections->v[i]);
		html_text(out, sections->v[i + 1]);
		buf_adds(out, "</a></li>\n");
	}
	buf_adds(out, "</ul></nav>\n");
}

/* A script element ends at "</script", whatever the text around it is, so no "<" is left. */
static void add_data(struct buf *out, const struct report *r)
{
	auto_json json_t *j = drift_slices_json(r);
	auto_free char *text = json_dumps(
		j, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(8));

	buf_adds(out, "<script type=\"application/json\" id=\"slices\">");
	for (const char *p = text ? text : "null"; *p; p++)
		if (strchr("<>&", *p))
			buf_addf(out, "\\u%04x", (unsigned)*p);
		else
			buf_addc(out, *p);
	buf_adds(out, "</script>\n");
}

static void add_header(struct buf *out, const struct report *r, const char *title)
{
	const char *label = report_label(r);

	buf_adds(out, "<body>\n<a class=\"skip\" href=\"#main\">Skip to the figures</a>\n"
		      "<header><p class=\"brand\">whet report</p><h1>");
	html_text(out, title);
	buf_adds(out, "</h1>\n<p>Started <time>");
	html_text(out, r->started ? r->started : "?");
	buf_adds(out, "</time></p>\n");
	if (*label) {
		buf_adds(out, "<p class=\"label\">Not to be published: ");
		html_text(out, label);
		buf_adds(out, "</p>\n");
	}
	buf_adds(out, "</header>\n");
}

void report_html(const struct report *r, struct buf *out)
{
	auto_buf struct buf body = BUF_INIT, style = BUF_INIT, script = BUF_INIT;
	struct doc d = {.out = &body, .format = DOC_HTML};
	auto_free char *title = subject(r);
	bool plots = *page_plots && r->samples.n && r->comparisons.n;

	buf_addf(&style, "\n%s%s", plots ? page_plots_style : "", page_style);
	if (plots)
		buf_addf(&script, "\n/*! uPlot:\n%s*/\n%s%s", page_plots_license, page_plots,
			page_script);
	add_sections(&d, r);
	add_head(out, title, buf_str(&style), buf_str(&script));
	add_header(out, r, title);
	add_contents(out, &d.sections);
	buf_adds(out, "<main id=\"main\" tabindex=\"-1\">\n");
	buf_add(out, buf_str(&body), body.n);
	buf_adds(out, "</main>\n<footer><p>Everything here, and more, is in report.json beside "
		      "this file.</p></footer>\n");
	if (plots) {
		add_data(out, r);
		buf_addf(out, "<script>%s</script>\n", buf_str(&script));
	}
	buf_adds(out, "</body>\n</html>\n");
	doc_release(&d);
}
