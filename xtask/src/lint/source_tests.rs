//! Tests of the line splitter.

use super::*;

fn code(text: &str) -> Vec<String> {
    split(text).into_iter().map(|line| line.code).collect()
}

#[test]
fn strings_and_comments_are_no_code() {
    assert_eq!(
        code("let a = \"unsafe { // }\"; // unsafe"),
        ["let a = \"\"; "]
    );
    assert_eq!(code("let a = r#\"un\"safe\"#; b"), ["let a = \"\"; b"]);
    assert_eq!(code("a /* x /* y */ z */ b"), ["a  b"]);
    assert_eq!(
        code("let q = '\"'; let l: &'static str = \"{\";"),
        ["let q = ' '; let l: &'static str = \"\";"]
    );
    assert_eq!(
        code("let n = '\\n'; let q = '\\''; let u = '\\u{7f}';"),
        ["let n = ' '; let q = ' '; let u = ' ';"]
    );
    assert_eq!(code("let a = \"x \\\n  { y\"; b"), ["let a = \"", "\"; b"]);
}

#[test]
fn comments_are_kept_beside() {
    let lines = split("a; // Pairs with b.\n/// Doc.\n");
    assert_eq!(lines[0].comment, " Pairs with b.");
    assert!(lines[1].is_comment());
}

#[test]
fn functions_have_ends() {
    let text = "trait A {\n    fn no_body(&self);\n    fn body(&self) {\n        if x {\n        }\n    }\n}\n\
        pub(crate) const unsafe fn two(\n    a: [u8; 4],\n) -> u8\n{\n}\n";
    let source = Source::parse("src/a.rs".into(), text);
    let functions = source.functions();
    let found: Vec<_> = functions
        .iter()
        .map(|one| (one.name.as_str(), one.first, one.last))
        .collect();
    assert_eq!(found, [("body", 2, 5), ("two", 7, 11)]);
}

#[test]
fn a_pointer_to_a_function_is_none() {
    let source = Source::parse(
        "src/a.rs".into(),
        "struct A {\n    run: fn (u8) -> u8,\n}\n",
    );
    assert!(source.functions().is_empty());
}

#[test]
fn tests_are_told_apart() {
    let text = "fn a() {\n}\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\n#[cfg(test)]\nmod more;\nfn c() {\n}\n";
    let source = Source::parse("src/a.rs".into(), text);
    let names: Vec<_> = source
        .functions()
        .into_iter()
        .map(|function| function.name)
        .collect();
    assert_eq!(names, ["a", "c"]);
    assert!(
        Source::parse("crates/x/tests/a.rs".into(), "fn a() {\n}\n")
            .functions()
            .is_empty()
    );
    assert!(
        Source::parse("src/a_tests.rs".into(), "fn a() {\n}\n")
            .functions()
            .is_empty()
    );
}
