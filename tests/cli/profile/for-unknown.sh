whet profile merge --for rustc-2.0 x.profraw
